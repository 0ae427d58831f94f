import type { Meter, Span, Tracer } from '@opentelemetry/api';
import type { EventOf, EventType, JournalEvent } from '../../journal/events.ts';

export const telemetryPackages = [
  '@opentelemetry/api',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-trace',
  '@opentelemetry/sdk-metrics',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/exporter-metrics-otlp-http',
] as const;

const timeoutMillis = 3000;

/**
 * Sends the events of a run to OpenTelemetry as spans and metrics; null if the SDK is not installed. The exporters read
 * the rest of their settings from the environment.
 */
export async function startTelemetry(version: string) {
  const sdk = await loadSdk();
  if (sdk === null) return null;
  const { tracers, meters } = startProviders(sdk, version);
  const spans = createSpans(sdk.api, tracers.getTracer('ralph', version));
  const countTurn = createCounters(meters.getMeter('ralph', version));
  return {
    event(event: JournalEvent): void {
      try {
        if (event.type === 'agent.ended') countTurn(event);
        trace(event.type, spans, event);
      } catch {
        // Telemetry never disturbs a loop.
      }
    },
    /** Sends what is left. Never rejects, and takes no longer than some seconds. */
    async close(): Promise<void> {
      const closing = Promise.allSettled([tracers.shutdown(), meters.shutdown()]);
      await Promise.race([closing, new Promise((done) => setTimeout(done, 2 * timeoutMillis).unref())]);
    },
  };
}

function startProviders({ resources, trace, metrics, traceExporter, metricExporter }: Sdk, version: string) {
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
  return { tracers, meters };
}

function createCounters(meter: Meter): (event: EventOf<'agent.ended'>) => void {
  const tokens = meter.createCounter('ralph.tokens', { unit: '{token}', description: 'Tokens by kind' });
  const cost = meter.createCounter('ralph.cost', { unit: '{USD}', description: 'Cost in US dollars' });
  const iterations = meter.createCounter('ralph.iterations', {
    description: 'Iterations by how the turn ended',
  });
  return ({ usage, end }) => {
    iterations.add(1, { end });
    if (usage === undefined) return;
    tokens.add(usage.inputTokens, { kind: 'input' });
    tokens.add(usage.outputTokens, { kind: 'output' });
    tokens.add(usage.cacheReadTokens, { kind: 'cache-read' });
    tokens.add(usage.cacheWriteTokens, { kind: 'cache-write' });
    if (usage.costUsd !== undefined) cost.add(usage.costUsd, { estimated: usage.estimated === true });
  };
}

type Spans = ReturnType<typeof createSpans>;

/** The open spans: the run, its iteration, and below that tool calls and guardrails. */
function createSpans(api: Sdk['api'], tracer: Tracer) {
  const open = new Map<string, Span>();

  function end(key: string, event: JournalEvent, ok: boolean, attributes: Attributes = {}): void {
    // What began within it ends with it.
    if (key === 'run') end('iteration', event, false);
    if (key === 'iteration')
      for (const inner of open.keys()) if (inner !== 'run' && inner !== key) end(inner, event, false);
    const span = open.get(key);
    open.delete(key);
    span?.setAttributes(attributes);
    if (!ok) span?.setStatus({ code: api.SpanStatusCode.ERROR });
    // The SDK takes a small number for something else than milliseconds, but not a date.
    span?.end(new Date(event.at));
  }

  return {
    start(key: string, name: string, event: JournalEvent, attributes: Attributes): void {
      const parent = key === 'run' ? undefined : open.get(key === 'iteration' ? 'run' : 'iteration');
      const context = parent === undefined ? api.ROOT_CONTEXT : api.trace.setSpan(api.ROOT_CONTEXT, parent);
      open.set(key, tracer.startSpan(name, { startTime: new Date(event.at), attributes }, context));
    },
    annotate: (attributes: Attributes): void => void open.get('iteration')?.setAttributes(attributes),
    end,
  };
}

type Traces = { readonly [T in EventType]?: (spans: Spans, event: EventOf<T>) => void };

/** What becomes of an event; those that are not here are not traced. */
const traces: Traces = {
  'run.started': (spans, event) =>
    spans.start('run', 'ralph run', event, { 'ralph.run': event.run, 'ralph.agent': event.agent }),
  'run.resumed': (spans, event) =>
    spans.start('run', 'ralph run', event, { 'ralph.agent': event.agent ?? '', 'ralph.resumed': true }),
  'iteration.started': (spans, event) =>
    spans.start('iteration', 'iteration', event, { 'ralph.iteration': event.iteration }),
  'tool.started': (spans, event) =>
    spans.start(`tool ${event.id}`, `tool ${event.name}`, event, { 'ralph.tool': event.name }),
  'tool.ended': (spans, event) => spans.end(`tool ${event.id}`, event, event.ok),
  'guardrail.started': (spans, event) =>
    spans.start(`guardrail ${event.command}`, 'guardrail', event, { 'ralph.guardrail': event.command }),
  'guardrail.ended': (spans, event) =>
    spans.end(`guardrail ${event.command}`, event, event.ok, { 'ralph.exit_code': event.exitCode ?? -1 }),
  'agent.ended': (spans, event) => spans.annotate(turnAttributes(event)),
  verdict: (spans, { accepted }) => spans.annotate({ 'ralph.claim': accepted ? 'accepted' : 'rejected' }),
  decision(spans, event) {
    const { code } = event.because;
    const attributes = { 'ralph.decision': event.kind, 'ralph.because': code };
    spans.end('iteration', event, code !== 'turn-failed' && code !== 'context', attributes);
  },
  'run.ended': (spans, event) =>
    spans.end('run', event, event.exitCode === 0, { 'ralph.outcome': event.outcome }),
  'run.yielded': (spans, event) => spans.end('run', event, true, { 'ralph.yielded': true }),
};

function trace<T extends EventType>(type: T, spans: Spans, event: EventOf<T>): void {
  traces[type]?.(spans, event);
}

function turnAttributes({ usage, end, toolCalls }: EventOf<'agent.ended'>): Attributes {
  return {
    'ralph.turn.end': end,
    ...(toolCalls === null ? {} : { 'ralph.tool_calls': toolCalls }),
    ...(usage && {
      'gen_ai.usage.input_tokens': usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens,
      'gen_ai.usage.output_tokens': usage.outputTokens,
    }),
    ...(usage?.costUsd === undefined ? {} : { 'ralph.cost_usd': usage.costUsd }),
  };
}

type Attributes = Readonly<Record<string, string | number | boolean>>;
type Sdk = NonNullable<Awaited<ReturnType<typeof loadSdk>>>;

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
