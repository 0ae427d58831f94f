import type { AgentEvent } from '../adapter.ts';
import { asRecord, parseRecord, str } from '../json.ts';
import { measureString } from '../json-string.ts';
import { toolEnd } from '../messages.ts';
import { type ClaudeState, exitCodeIn } from './parse.ts';

/** More than is ever shown. */
const headBytes = 2048;
const closingBrace = 0x7d;
const before =
  /^\{"type":"user","message":\{"role":"user","content":\[\{((?:"(?:tool_use_id|type)":"[^"\\]*",)*)"content":"/;
const after =
  /^"((?:,"(?:is_error|tool_use_id|type)":(?:true|false|"[^"\\]*"))*)\}\]\}(?:,"(?:session_id|uuid|timestamp)":"[^"\\]*")*,"parent_tool_use_id":(null|")/;

/**
 * The end of a tool call with a large result, which stands in its line twice: most of a stream is such lines, and all that
 * is needed of them is how they begin and how large they are. Null for any other line.
 */
export function skim(line: Buffer, state: ClaudeState): AgentEvent[] | null {
  // One that was cut off is no result.
  if (line.at(-1) !== closingBrace) return null;
  const opening = before.exec(line.toString('latin1', 0, 300));
  if (opening === null) return null;
  const text = measureString(line, opening[0].length, headBytes);
  if (text === null) return null;
  const closing = after.exec(line.toString('latin1', text.end, text.end + 600));
  if (closing === null) return null;
  // What a subagent does is its own business.
  if (closing[2] !== 'null') return [];
  const fields = asRecord(parseRecord(`{${opening[1]}"":0${closing[1]}}`));
  const id = str(fields.tool_use_id);
  if (fields.type !== 'tool_result' || id === undefined || state.tasks.isCalled(id)) return null;
  const failed = fields.is_error === true;
  const { head: output, chars, lines } = text;
  const end = toolEnd({ id, failed, output }, failed ? exitCodeIn(output) : undefined);
  return [output.length === chars ? end : Object.assign(end, { size: { chars, lines } })];
}
