import type { Usage } from '../core/turn.ts';
import type { AgentEvent, TodoItem } from './adapter.ts';
import { asRecord, count, list, num, str } from './json.ts';
import type { Failure } from './limit.ts';
import { summarise } from './summary.ts';

type EventOf<Type extends AgentEvent['type']> = Extract<AgentEvent, { type: Type }>;

/** Makes the start of a tool call from fields that may be anything. */
export function toolStart(id: unknown, name: unknown, input: unknown): EventOf<'tool-start'> {
  const start = { type: 'tool-start', id: str(id) ?? '', name: str(name) ?? 'tool' } as const;
  const summary = summarise(input);
  return input === undefined || input === summary ? { ...start, summary } : { ...start, summary, input };
}

type ToolEnd = { readonly ok: boolean; readonly output: string; readonly exitCode?: number | undefined };

/** Makes the end of a tool call, which failed if its exit code is not 0. */
export function toolEnd(id: unknown, { ok, output, exitCode }: ToolEnd): EventOf<'tool-end'> {
  return {
    type: 'tool-end',
    id: str(id) ?? '',
    ok: ok && (exitCode ?? 0) === 0,
    ...(exitCode === undefined ? {} : { exitCode }),
    output,
  };
}

/** Returns the exit code that the first group of a pattern finds in the output of a command. */
export function exitCodeIn(output: string, ...patterns: readonly RegExp[]): number | undefined {
  const codes = patterns.map((pattern) => pattern.exec(output)?.[1]);
  const code = codes.find((digits) => digits !== undefined);
  return code === undefined ? undefined : Number(code);
}

/** Makes the end of a turn that failed. */
export function failedResult({ message, limit }: Partial<Failure>, usage?: Usage): EventOf<'result'> {
  return {
    type: 'result',
    ok: false,
    ...(message === undefined ? {} : { error: message }),
    ...(limit === undefined ? {} : { limit }),
    ...(usage === undefined ? {} : { usage }),
  };
}

/** Turns texts and tool calls into events of a subagent. */
export function asSubagent(events: readonly AgentEvent[]): AgentEvent[] {
  return events.flatMap((event): AgentEvent[] => {
    if (event.type === 'text') return [{ type: 'subagent', text: event.text }];
    return event.type === 'tool-start'
      ? [{ type: 'subagent', text: `${event.name} ${event.summary}`.trim() }]
      : [];
  });
}

/** Makes the event that names the agent's session, and its model where the CLI says it. */
export function sessionEvent(session: unknown, model?: unknown): EventOf<'session'> {
  const name = str(model);
  return { type: 'session', id: str(session) ?? '', ...(name === undefined ? {} : { model: name }) };
}

/** Reads a todo list whose items have their text in this field. */
export function todoEvent(todos: unknown, textField = 'content'): EventOf<'todo'> {
  const items = list(todos).map((item) => {
    const { [textField]: text, status } = asRecord(item);
    return { text: str(text) ?? '', status: todoStatus(status) };
  });
  return { type: 'todo', items };
}

export function todoStatus(status: unknown): TodoItem['status'] {
  if (status === 'completed') return 'done';
  return status === 'in_progress' ? 'active' : 'pending';
}

type Tokens = Readonly<Record<'input' | 'output' | 'cacheRead' | 'cacheWrite' | 'cost', unknown>>;

/** Makes a usage; `input` excludes cached tokens. */
export function usageOf({ input, output, cacheRead, cacheWrite, cost }: Partial<Tokens>): Usage {
  return {
    inputTokens: count(input),
    outputTokens: count(output),
    cacheReadTokens: count(cacheRead),
    cacheWriteTokens: count(cacheWrite),
    ...(num(cost) === undefined ? {} : { costUsd: count(cost) }),
  };
}

/** Makes a usage of a CLI whose `input` includes the cached tokens. */
export function usageWithCache(tokens: Partial<Tokens>): Usage {
  const input = count(tokens.input) - count(tokens.cacheRead) - count(tokens.cacheWrite);
  return usageOf({ ...tokens, input });
}

/** Returns the size of the context, from the usage of one request. */
export function contextOf({ inputTokens, cacheReadTokens, cacheWriteTokens }: Usage): AgentEvent[] {
  const tokens = inputTokens + cacheReadTokens + cacheWriteTokens;
  return tokens === 0 ? [] : [{ type: 'context', size: { tokens } }];
}

/** Returns the texts of a content field: a string, or blocks of which some are text. */
export function textsIn(content: unknown): string[] {
  if (typeof content === 'string') return [content];
  return list(content).flatMap((block) => str(asRecord(block).text) ?? []);
}

export function textOf(content: unknown): string {
  return textsIn(content).join('\n');
}
