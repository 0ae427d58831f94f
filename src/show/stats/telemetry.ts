import type { Span } from '@opentelemetry/api';
import type { EventOf, JournalEvent } from '../../journal/events.ts';

/** A run as spans and metrics for OpenTelemetry, from its journal. */
export type Telemetry = {
  event(event: JournalEvent): void;
  /** Sends what is left. Never rejects, and takes no longer than some seconds. */
  close(): Promise<void>;
};

export const telemetryPackages = [
  '@opentelemetry/api',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-trace',
  '@opentelemetry/sdk-metrics',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/exporter-metrics-otlp-http',
] as const;

const timeoutMillis = 3000;

/** Loads the SDK; null where it is not installed. The exporters read the rest of their settings from the environment. */
export async function startTelemetry(version: string): Promise<Telemetry | null> {
  const sdk = await loadSdk();
  if (sdk === null) return null;
  const { api, resources, trace, metrics, traceExporter, metricExporter } = sdk;
  const resource = resources
    .resourceFromAttributes({ 'service.name': 'ralph', 'service.version': version })
    .merge(resources.detectResources({ detectors: [resources.envDetector] }));
  const tracers = new trace.TracerProvider({
    resource,
    spanProcessors: [
      new trace.BatchSpanProcessor({
        exporter: new traceExporter.OTLPTraceExporter({ timeoutMillis }),
        exportTimeoutMillis: timeoutMillis,
      }),
    ],
  });
  const meters = new metrics.MeterProvider({
    resource,
    readers: [
      new metrics.PeriodicExportingMetricReader({
        exporter: new metricExporter.OTLPMetricExporter({ timeoutMillis }),
        exportTimeoutMillis: timeoutMillis,
      }),
    ],
  });
  const tracer = tracers.getTracer('ralph', version);
  const meter = meters.getMeter('ralph', version);
  const tokens = meter.createCounter('ralph.tokens', { unit: '{token}', description: 'Tokens by kind' });
  const cost = meter.createCounter('ralph.cost', { unit: '{USD}', description: 'Cost in US dollars' });
  const iterations = meter.createCounter('ralph.iterations', {
    description: 'Iterations by how the turn ended',
  });

  let run: Span | null = null;
  let iteration: Span | null = null;
  /** Tool calls by their id, and guardrails by their command. */
  const open = new Map<string, Span>();

  function start(name: string, event: JournalEvent, parent: Span | null, attributes: Attributes): Span {
    const context = parent === null ? api.ROOT_CONTEXT : api.trace.setSpan(api.ROOT_CONTEXT, parent);
    return tracer.startSpan(name, { startTime: timeOf(event), attributes }, context);
  }

  function end(
    span: Span | null | undefined,
    event: JournalEvent,
    ok: boolean,
    attributes: Attributes = {},
  ): void {
    span?.setAttributes(attributes);
    if (!ok) span?.setStatus({ code: api.SpanStatusCode.ERROR });
    span?.end(timeOf(event));
  }

  function take(key: string): Span | undefined {
    const span = open.get(key);
    open.delete(key);
    return span;
  }

  function endIteration(event: JournalEvent, ok: boolean, attributes: Attributes = {}): void {
    for (const key of open.keys()) end(take(key), event, false);
    end(iteration, event, ok, attributes);
    iteration = null;
  }

  function endRun(event: JournalEvent, ok: boolean, attributes: Attributes): void {
    endIteration(event, false);
    end(run, event, ok, attributes);
    run = null;
  }

  function turnEnded(event: EventOf<'agent.ended'>): void {
    const { usage, end: how, toolCalls } = event;
    iterations.add(1, { end: how });
    iteration?.setAttributes({
      'ralph.turn.end': how,
      ...(toolCalls === null ? {} : { 'ralph.tool_calls': toolCalls }),
    });
    if (usage === undefined) return;
    tokens.add(usage.inputTokens, { kind: 'input' });
    tokens.add(usage.outputTokens, { kind: 'output' });
    tokens.add(usage.cacheReadTokens, { kind: 'cache-read' });
    tokens.add(usage.cacheWriteTokens, { kind: 'cache-write' });
    iteration?.setAttributes({
      'gen_ai.usage.input_tokens': usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens,
      'gen_ai.usage.output_tokens': usage.outputTokens,
    });
    if (usage.costUsd === undefined) return;
    cost.add(usage.costUsd, { estimated: usage.estimated === true });
    iteration?.setAttribute('ralph.cost_usd', usage.costUsd);
  }

  function tell(event: JournalEvent): void {
    switch (event.type) {
      case 'run.started':
        run = start('ralph run', event, null, { 'ralph.run': event.run, 'ralph.agent': event.agent });
        return;
      case 'run.resumed':
        run = start('ralph run', event, null, { 'ralph.agent': event.agent ?? '', 'ralph.resumed': true });
        return;
      case 'iteration.started':
        iteration = start('iteration', event, run, { 'ralph.iteration': event.iteration });
        return;
      case 'tool.started':
        open.set(event.id, start(`tool ${event.name}`, event, iteration, { 'ralph.tool': event.name }));
        return;
      case 'tool.ended':
        end(take(event.id), event, event.ok);
        return;
      case 'guardrail.started':
        open.set(event.command, start('guardrail', event, iteration, { 'ralph.guardrail': event.command }));
        return;
      case 'guardrail.ended':
        end(take(event.command), event, event.ok, { 'ralph.exit_code': event.exitCode ?? -1 });
        return;
      case 'agent.ended':
        turnEnded(event);
        return;
      case 'verdict':
        iteration?.setAttribute('ralph.claim', event.accepted ? 'accepted' : 'rejected');
        return;
      case 'decision':
        endIteration(event, event.because.code !== 'turn-failed', {
          'ralph.decision': event.kind,
          'ralph.because': event.because.code,
        });
        return;
      case 'run.ended':
        endRun(event, event.exitCode === 0, { 'ralph.outcome': event.outcome });
        return;
      case 'run.yielded':
        endRun(event, true, { 'ralph.yielded': true });
        return;
      default:
    }
  }

  return {
    event(event) {
      try {
        tell(event);
      } catch {
        // Telemetry never disturbs a loop.
      }
    },
    async close() {
      const closing = Promise.allSettled([tracers.shutdown(), meters.shutdown()]);
      await Promise.race([closing, new Promise((done) => setTimeout(done, 2 * timeoutMillis).unref())]);
    },
  };
}

type Attributes = Readonly<Record<string, string | number | boolean>>;

/** The SDK takes milliseconds, but a small number for something else. */
function timeOf(event: JournalEvent): Date {
  return new Date(event.at);
}

async function loadSdk() {
  try {
    const [api, resources, trace, metrics, traceExporter, metricExporter] = await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/sdk-metrics'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/exporter-metrics-otlp-http'),
    ]);
    return { api, resources, trace, metrics, traceExporter, metricExporter };
  } catch {
    return null;
  }
}
