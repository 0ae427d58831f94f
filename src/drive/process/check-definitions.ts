import { delimiter, join, relative, resolve } from 'node:path';
import * as v from 'valibot';
import { checkFileKind, checkParts, commandWords } from '../../core/check-files.ts';
import type { Fingerprints } from '../../core/file-evidence.ts';
import { sha256 } from '../../os/crypto.ts';
import { contentMark, markFiles } from '../../os/files/file-marks.ts';
import { isFile, readJsonAs } from '../../os/files/files.ts';
import { isWithin, realPath } from '../../os/files/real-path.ts';
import { notTheWork, walkFiles } from '../../os/files/walk.ts';
import { type Environment, findProgram, outsideEnvironment } from '../../os/process/program.ts';

/** Commands that check the work, and where they run. */
export type CheckCommands = {
  readonly cwd: string;
  readonly env: Environment;
  readonly commands: readonly string[];
};

/** Folders with what was installed or built, where no file of a test is written by hand. */
const notSource = new Set([...notTheWork, '.venv', 'venv', 'target', 'build', 'coverage', '__pycache__']);
/** Programs that package managers and scripts start without naming them in a command. */
const usualPrograms = ['node', 'npm', 'npx', 'sh', 'bash', 'env', 'python', 'python3'];
const manifestSchema = v.looseObject({ scripts: v.fallback(v.record(v.string(), v.unknown()), {}) });

// The look comes before the first agent: large folders of fixtures must not hold it up.
const mostFiles = 5000;
const mostBytes = 16 * 1024 * 1024;

/** Returns a fingerprint of each file, script and program of the project that decides what the commands do. */
export function checkFingerprints({ cwd, env, commands }: CheckCommands): Fingerprints {
  if (commands.length === 0) return {};
  const files: string[] = [];
  const parts: [string, string][] = [];
  for (const path of walkFiles(cwd, notSource)) {
    if (files.length === mostFiles) break;
    if (/(?:^|\/)package\.json$/.test(path)) {
      const manifest = readJsonAs(join(cwd, path), manifestSchema) ?? { scripts: {} };
      for (const [name, text] of checkParts(manifest, manifest.scripts, commands))
        parts.push([`${path} ${name}`, text]);
    } else if (checkFileKind(path) !== null) files.push(path);
  }
  const scripts = parts.flatMap(([name, text]) => (name.includes(' scripts.') ? [text] : []));
  const words = new Set([...usualPrograms, ...[...commands, ...scripts].flatMap(commandWords)]);
  const marks = [
    ...markFiles(cwd, files, mostBytes),
    ...parts.map(([name, text]) => [name, sha256(text)] as const),
    ...namedFiles(cwd, env, words).map((file) => [relative(cwd, file), contentMark(realPath(file))] as const),
  ];
  // Half of a digest is enough, and the record travels with a run that moves to another machine.
  return Object.fromEntries(marks.map(([name, mark]) => [name, mark.slice(-32)]));
}

/** True for a program that hides one of the same name outside the project. */
export function shadowsProgram(path: string, { cwd, env }: CheckCommands): boolean {
  const file = join(cwd, path);
  const folder = programFolders(cwd, env).find((each) => isWithin(file, each));
  return folder !== undefined && findProgram(relative(folder, file), outsideEnvironment(env, cwd)) !== null;
}

/** Returns the files of the project that the words of a command name, by path or as programs. */
function namedFiles(cwd: string, env: Environment, words: ReadonlySet<string>): string[] {
  const folders = [cwd, ...programFolders(cwd, env)];
  return [...words].flatMap((word) =>
    folders.map((folder) => resolve(folder, word)).filter((file) => isWithin(file, cwd) && isFile(file)),
  );
}

/** Returns the folders of the project where a shell or a package manager looks for programs. */
function programFolders(cwd: string, env: Environment): string[] {
  const folders = (env.PATH ?? '').split(delimiter).map((folder) => resolve(cwd, folder));
  return [join(cwd, 'node_modules/.bin'), ...folders.filter((folder) => isWithin(folder, cwd))];
}
