import { oneLine } from '../core/text.ts';
import type { AgentEvent, ParserState } from './adapter.ts';
import { type JsonRecord, parseRecord, str } from './json.ts';

/** Makes a parser of lines that are JSON objects with a `type`. It shows any other line, and skips empty ones. */
export function jsonLines<State extends ParserState>(
  onEvent: (event: JsonRecord, type: string, state: State) => AgentEvent[],
): (line: string, state: State) => AgentEvent[] {
  return (line, state) => {
    if (line.trim() === '') return [];
    const event = parseRecord(line);
    if (event === undefined) return [{ type: 'notice', text: oneLine(line) }];
    return onEvent(event, str(event.type) ?? '', state);
  };
}
