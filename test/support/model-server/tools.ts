import { asRecord, type JsonRecord, list, str } from '../../../src/agents/json.ts';
import { quoteWord } from '../../../src/core/words.ts';

/** A tool that the client offers to the model. A free-form one takes text instead of JSON. */
export type OfferedTool = { readonly name: string; readonly schema: JsonRecord; readonly freeForm?: boolean };

type JsonCall = { readonly name: string; readonly input: JsonRecord };

export type ToolCall = { readonly name: string; readonly input: JsonRecord | string };

const shellTools = [
  'Bash',
  'bash',
  'shell',
  'exec_command',
  'shell_command',
  'run_shell_command',
  'run_commands',
  'execute_command',
];
const writeTools = [
  'Write',
  'write',
  'write_file',
  'create_file',
  'write_to_file',
  'create',
  'editor',
  'apply_patch',
];
const pathFields = ['file_path', 'filePath', 'absolute_path', 'target_file', 'path'];
const contentFields = ['content', 'contents', 'file_text', 'file_content', 'new_text'];

/** A call of the shell tool, in the shape that this client asks for. */
export function shellCall(command: string, tools: readonly OfferedTool[]): ToolCall {
  const tool = find(shellTools, tools);
  if (!tool) {
    const offered = tools.map(({ name }) => name).join(', ');
    throw new Error(`the client offers no tool that runs commands; it offers ${offered}`);
  }
  const fields = asRecord(tool.schema.properties);
  if (Object.hasOwn(fields, 'cmd')) return callOf(tool, { cmd: command });
  if (Object.hasOwn(fields, 'commands')) return callOf(tool, { commands: [command] });
  if (asRecord(fields.command).type === 'array') return callOf(tool, { command: ['bash', '-lc', command] });
  return callOf(tool, { command });
}

/** A call of the tool that writes a whole file; without one the shell has to do it, as a model would make it. */
export function writeCall(
  { path, content }: { readonly path: string; readonly content: string },
  tools: readonly OfferedTool[],
): ToolCall {
  const tool = find(writeTools, tools);
  if (!tool) return shellCall(`printf '%s' ${quoteWord(content)} > ${quoteWord(path)}`, tools);
  if (tool.freeForm) return { name: tool.name, input: addFilePatch(path, content) };
  const fields = Object.keys(asRecord(tool.schema.properties));
  const name = (known: readonly string[]) => known.find((field) => fields.includes(field)) ?? known[0] ?? '';
  return callOf(tool, { [name(pathFields)]: path, [name(contentFields)]: content });
}

/** A call that says nothing but what the tool cannot do without. */
export function emptyCall(tool: OfferedTool): JsonCall {
  return callOf(tool, {});
}

function find(names: readonly string[], tools: readonly OfferedTool[]): OfferedTool | undefined {
  return names.map((name) => tools.find((tool) => tool.name === name)).find((tool) => tool !== undefined);
}

function callOf({ name, schema }: OfferedTool, input: JsonRecord): JsonCall {
  const fields = asRecord(schema.properties);
  const needed = list(schema.required)
    .flatMap((field) => str(field) ?? [])
    .filter((field) => !Object.hasOwn(input, field))
    .map((field) => [field, valueFor(asRecord(fields[field]))]);
  return { name, input: { ...input, ...Object.fromEntries(needed) } };
}

function valueFor({ type, enum: choices }: JsonRecord): unknown {
  if (Array.isArray(choices)) return choices.includes('create') ? 'create' : choices[0];
  if (type === 'boolean') return false;
  if (type === 'number' || type === 'integer') return 120;
  if (type === 'array') return [];
  return 'scripted';
}

function addFilePatch(path: string, content: string): string {
  const lines = content.replace(/\n$/, '').split('\n');
  return [
    '*** Begin Patch',
    `*** Add File: ${path}`,
    ...lines.map((line) => `+${line}`),
    '*** End Patch',
  ].join('\n');
}
