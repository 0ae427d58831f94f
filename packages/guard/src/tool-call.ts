import { isObject } from './json.ts';
import { judgeCommand, judgeFile } from './judge.ts';
import type { Finding, GuardContext } from './model.ts';
import { filesOfPatch } from './patch-files.ts';
import { resolvePath } from './paths.ts';
import { worst } from './verdicts.ts';

/** The tools of all hosts that run a command, be it in the background (Monitor). */
const shellTools =
  /^(bash|shell|shell_command|run_shell_command|local_shell|exec_command|execute_command|run_command|monitor|powershell)$/i;
const writeTools =
  /^(write|edit|multiedit|notebookedit|write_file|edit_file|move_file|replace|create|str_replace|write_to_file)$/i;
const readTools =
  /^(read|read_file|read_text_file|read_many_files|read_multiple_files|notebookread|view|view_image)$/i;
const searchTools = /^(grep|search_file_content|grep_search)$/i;
const patchTools = /^(apply_patch|patch)$/i;

type Fields = Readonly<Record<string, unknown>>;

/** Judges a call of an agent's tool by what it would do; a tool that is not known here is none of the guard's. */
export function judgeToolCall(tool: string, input: unknown, context: GuardContext): Finding {
  const fields = isObject(input) ? input : { command: input };
  // A server of tools stands before the name: mcp__files__write_file.
  const name = tool.replace(/^mcp__.+__/, '');
  if (patchTools.test(name)) {
    const texts = [fields.command, fields.input, fields.patch, fields.patchText].flatMap(textsIn);
    return worst(filesOfPatch(texts.join('\n')).map(({ kind, path }) => judgeFile(kind, path, context)));
  }
  if (shellTools.test(name)) {
    if (!showsCommand(input)) return unreadable(context);
    const folder = textOf(fields.workdir ?? fields.directory ?? fields.dir_path);
    const there = folder ? { ...context, cwd: resolvePath(folder, context.cwd) } : context;
    const judge = /^powershell$/i.test(name) ? judgePowerShell : judgeCommand;
    // Only the host knows which of the fields its tool uses.
    const commands = [commandOf(fields.command), commandOf(fields.cmd)].filter(Boolean);
    return worst(commands.map((command) => judge(command, there)));
  }
  if (writeTools.test(name)) return worst(pathsIn(fields).map((path) => judgeFile('write', path, context)));
  if (readTools.test(name)) {
    const paths = [...pathsIn(fields), ...textsIn(fields.include)];
    return worst(paths.map((path) => judgeFile('read', path, context)));
  }
  return searchTools.test(name) ? judgeSearch(fields, context) : { verdict: 'allow' };
}

const pathFields = 'file_path notebook_path filePath absolute_path path paths source destination'.split(' ');

function pathsIn(fields: Fields): string[] {
  return pathFields.flatMap((name) => textsIn(fields[name]));
}

function commandOf(command: unknown): string {
  if (!Array.isArray(command)) return textOf(command);
  return command.map((word) => quoteWord(textOf(word))).join(' ');
}

function quoteWord(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function showsCommand(input: unknown): boolean {
  if (!isObject(input)) return isCommand(input);
  return [input.command, input.cmd].every(
    (given) => given === undefined || given === null || isCommand(given),
  );
}

function isCommand(value: unknown): boolean {
  return (Array.isArray(value) ? value : [value]).every((word) => typeof word === 'string');
}

function unreadable({ unattended }: GuardContext): Finding {
  return {
    verdict: unattended ? 'deny' : 'warn',
    category: 'unparsable',
    reason: 'the command is neither a text nor a list of texts, so nobody knows what would run.',
  };
}

/** Judges cmdlets as PowerShell, and programs as in any shell. */
function judgePowerShell(command: string, context: GuardContext): Finding {
  const own = judgeCommand(`pwsh -Command ${quoteWord(command)}`, context);
  const asShell = judgeCommand(command, context);
  return asShell.category === 'unparsable' ? own : worst([own, asShell]);
}

function judgeSearch(fields: Fields, context: GuardContext): Finding {
  const given = [...pathsIn(fields), ...textsIn(fields.dir_path)];
  const folders = given.length === 0 ? ['.'] : given;
  const names = [fields.glob, fields.include].flatMap(textsIn).filter((name) => !name.startsWith('!'));
  const files = folders.flatMap((folder) => names.map((name) => `${folder}/${name}`));
  return worst([
    ...folders.map((folder) => judgeFile('read', folder, context, true)),
    ...files.map((file) => judgeFile('read', file, context)),
  ]);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function textsIn(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).map(textOf).filter((text) => text !== '');
}
