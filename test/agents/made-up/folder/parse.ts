import { oneLine } from '../../core/text.ts';
import type { AgentEvent } from '../adapter.ts';
import { asRecord, count, parseRecord, str } from '../json.ts';
import { limitOf, readError } from '../limit.ts';
import { summarise } from '../summary.ts';

export function parse(line: string): AgentEvent[] {
  const event = parseRecord(line);
  if (event === undefined) return line.trim() === '' ? [] : [{ type: 'notice', text: oneLine(line) }];
  const [name = '', value] = Object.entries(event)[0] ?? [];
  const fields = asRecord(value);
  const id = str(fields.id) ?? '';
  switch (name) {
    case 'say':
      return [{ type: 'text', text: str(value) ?? '' }];
    case 'flap':
      return [{ type: 'tool-start', id, name: str(fields.tool) ?? '', summary: summarise(fields.with) }];
    case 'land':
      return [{ type: 'tool-end', id, ok: fields.code === 0, output: str(fields.output) ?? '' }];
    case 'squawk': {
      const message = str(fields.message) ?? '';
      const limit = limitOf(readError(`${fields.status} ${message}`));
      return [{ type: 'result', ok: false, error: message, ...(limit && { limit }) }];
    }
    case 'perched': {
      const { in: input, out } = fields;
      const tokens = { inputTokens: count(input), outputTokens: count(out) };
      return [{ type: 'result', ok: true, usage: { ...tokens, cacheReadTokens: 0, cacheWriteTokens: 0 } }];
    }
  }
  return [{ type: 'unknown', name }];
}
