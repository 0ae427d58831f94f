import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { repoWith, runArgs, tag, work } from '../support/agent.ts';
import { startHookServer } from '../support/hook-server.ts';
import { builtProgram, runRalph } from '../support/ralph.ts';

const claims = { steps: [work, { text: tag }] };
const settings = { guardrails: [{ command: 'true' }] };

type Attribute = { readonly key: string; readonly value: Readonly<Record<string, unknown>> };
type SentSpan = {
  readonly name: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly Attribute[];
};
type SentMetric = {
  readonly name: string;
  readonly sum: {
    readonly dataPoints: readonly { readonly asDouble?: number; readonly asInt?: number | string }[];
  };
};

const attribute = (span: SentSpan | undefined, key: string) =>
  Object.values(span?.attributes.find((one) => one.key === key)?.value ?? {})[0];

describe('OpenTelemetry', () => {
  it('gets a span for the run, each iteration, tool and guardrail, and metrics of tokens and cost', async () => {
    const collector = await startHookServer(200, '{}');
    const repo = await repoWith([{ steps: [{ text: 'Hm.' }] }, claims], settings);
    const env = { ...repo.env, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    expect((await runRalph(runArgs(3), { ...repo, env })).code).toBe(0);

    const sent = (path: string) =>
      collector.received.filter((one) => one.path === path).map(({ body }) => JSON.parse(body));
    const spans: SentSpan[] = sent('/v1/traces').flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ scopeSpans }: { scopeSpans: { spans: SentSpan[] }[] }) =>
        scopeSpans.flatMap((scope) => scope.spans),
      ),
    );
    const run = spans.find(({ name }) => name === 'ralph run');
    const goes = spans.filter(({ name }) => name === 'iteration');
    expect(attribute(run, 'ralph.outcome')).toBe('PROMISE_ACCEPTED');
    expect(goes.map(({ parentSpanId }) => parentSpanId)).toEqual([run?.spanId, run?.spanId]);
    expect(goes.map((span) => attribute(span, 'ralph.claim'))).toEqual([undefined, 'accepted']);
    const second = goes[1]?.spanId;
    expect(spans.filter(({ name }) => name === 'guardrail')).toHaveLength(2);
    expect(
      spans.filter(({ name, parentSpanId }) => name === 'tool Bash' && parentSpanId === second),
    ).toHaveLength(1);

    const metrics: SentMetric[] = sent('/v1/metrics').flatMap(({ resourceMetrics }) =>
      resourceMetrics.flatMap(({ scopeMetrics }: { scopeMetrics: { metrics: SentMetric[] }[] }) =>
        scopeMetrics.flatMap((scope) => scope.metrics),
      ),
    );
    const total = (name: string) =>
      metrics
        .filter((metric) => metric.name === name)
        .flatMap(({ sum }) => sum.dataPoints)
        .reduce((sum, { asDouble, asInt }) => sum + Number(asDouble ?? asInt ?? 0), 0);
    const { usage } = JSON.parse((await runRalph(['show', '--json'], repo)).stdout);
    const { costUsd, ...tokens } = usage;
    expect(total('ralph.cost')).toBeCloseTo(costUsd);
    expect(total('ralph.tokens')).toBe(Object.values<number>(tokens).reduce((sum, count) => sum + count, 0));
    expect(total('ralph.iterations')).toBe(2);
  });

  it('changes nothing about a run whose collector is not there', async () => {
    const repo = await repoWith([claims]);
    const env = { ...repo.env, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
    const { code, stdout, stderr } = await runRalph(runArgs(1), { ...repo, env });
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('PROMISE_ACCEPTED');
  });

  it('says what to install where the SDK is missing, and goes on', async () => {
    const repo = await repoWith([claims]);
    const copy = join(repo.home, 'copy');
    mkdirSync(copy);
    cpSync(join(builtProgram('ralph'), '..'), join(copy, 'dist'), { recursive: true });
    const env = { ...repo.env, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', NODE_PATH: '' };
    // The built command is only looked at: what runs is its copy, which has no packages around it.
    const through = [
      'sh',
      '-c',
      'copy=$1; shift 3; exec node "$copy" "$@"',
      'sh',
      join(copy, 'dist', 'ralph.cjs'),
    ];
    const { code, stderr } = await runRalph(runArgs(1), { ...repo, env, through });
    expect(code).toBe(0);
    expect(stderr).toContain('the SDK is missing: npm install @opentelemetry/api');
  });
});
