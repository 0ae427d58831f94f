import { oneLine } from '../core/text.ts';
import { asRecord, str } from './json.ts';

/** Fields that describe a tool call best, in this order, by the names of all CLIs. */
const describingFields = [
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

/** Summarises the input of a tool call on one short line: the command, the path, the pattern. */
export function summarise(input: unknown): string {
  if (typeof input === 'string') return oneLine(input);
  const fields = asRecord(input);
  const key = describingFields.find((name) => str(fields[name]));
  const value = key === undefined ? Object.values(fields).find((field) => str(field)) : fields[key];
  return oneLine(str(value) ?? '');
}
