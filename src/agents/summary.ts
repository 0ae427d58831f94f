import { oneLine } from '../core/text.ts';
import { asRecord, str } from './json.ts';

/** Fields that say most about a tool call, the best first. CLIs name the same thing differently. */
const telling = [
  'command',
  'cmd',
  'file_path',
  'filePath',
  'absolute_path',
  'path',
  'pattern',
  'query',
  'url',
  'subject',
  'description',
  'prompt',
];

/** The input of a tool call in one short line: the command, the path, the pattern. */
export function summarise(input: unknown): string {
  if (typeof input === 'string') return oneLine(input);
  const fields = asRecord(input);
  const key = telling.find((name) => str(fields[name]));
  const value = key === undefined ? Object.values(fields).find((field) => str(field)) : fields[key];
  return oneLine(str(value) ?? '');
}
