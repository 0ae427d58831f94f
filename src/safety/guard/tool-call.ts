import { isObject } from '../../core/shape.ts';
import { judgeCommand, judgeFileRead, judgeFileWrite } from './judge.ts';
import type { Finding, GuardContext, Verdict } from './model.ts';

const shellTools = /^(bash|shell|run_shell_command|local_shell|exec_command|execute_command|powershell)$/i;
const writeTools =
  /^(write|edit|multiedit|notebookedit|write_file|replace|create|str_replace|write_to_file)$/i;
const readTools = /^(read|read_file|notebookread|view)$/i;
const searchTools = /^(grep|search_file_content|grep_search)$/i;
const order: readonly Verdict[] = ['allow', 'warn', 'deny'];

/** Judges a call of an agent's tool by what it would do; a tool that is not known here is none of the guard's. */
export function judgeToolCall(tool: string, input: unknown, context: GuardContext): Finding {
  const fields = isObject(input) ? input : {};
  if (/^(apply_patch|patch)$/i.test(tool)) return judgePatch(fields, context);
  if (shellTools.test(tool)) {
    const folder = textOf(fields.workdir ?? fields.directory ?? fields.dir_path);
    return judgeCommand(
      commandOf(fields.command ?? fields.cmd),
      folder ? { ...context, cwd: absolute(folder, context) } : context,
    );
  }
  const path = pathIn(fields);
  if (path === '') return { verdict: 'allow' };
  if (writeTools.test(tool)) return judgeFileWrite(path, context);
  if (searchTools.test(tool)) return judgeFileRead(path, context, true);
  return readTools.test(tool) ? judgeFileRead(path, context) : { verdict: 'allow' };
}

const longest = 300;

/** What a call is about, in a few words: its command, or its file. */
export function describeCall(input: unknown): string {
  const fields = isObject(input) ? input : {};
  const text =
    commandOf(fields.command ?? fields.cmd) ||
    pathIn(fields) ||
    textOf(fields.input ?? fields.patch ?? fields.patchText);
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}

function pathIn(fields: Readonly<Record<string, unknown>>): string {
  return textOf(
    fields.file_path ?? fields.notebook_path ?? fields.filePath ?? fields.absolute_path ?? fields.path,
  );
}

/** Some agents give the words of the command, and then mostly those of a shell. */
function commandOf(command: unknown): string {
  if (!Array.isArray(command)) return textOf(command);
  const words = command.map(textOf);
  const [, option = '', script] = words;
  if (words.length === 3 && /^-\w*c$/.test(option) && script !== undefined) return script;
  return words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
}

/** A patch names its files on lines of their own. */
function judgePatch(fields: Readonly<Record<string, unknown>>, context: GuardContext): Finding {
  const patch = [fields.command, fields.input, fields.patch, fields.patchText]
    .map((part) => (Array.isArray(part) ? part.join('\n') : textOf(part)))
    .join('\n');
  const paths = [...patch.matchAll(/^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$/gm)].map(
    ([, path = '']) => path.trim(),
  );
  return paths
    .map((path) => judgeFileWrite(path, context))
    .reduce((worst, next) => (order.indexOf(next.verdict) > order.indexOf(worst.verdict) ? next : worst), {
      verdict: 'allow',
    });
}

function absolute(folder: string, { cwd }: GuardContext): string {
  return folder.startsWith('/') ? folder : `${cwd}/${folder}`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
