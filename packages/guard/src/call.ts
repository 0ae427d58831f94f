import { remedyOf } from './categories.ts';
import { PRIVATE } from './marks.ts';
import type { Act, Category, Effect, FileEffect, GuardContext, Shell, Start, Step } from './model.ts';
import { resolvePath } from './paths.ts';
import { contentOf, fileEffect, isLoaded, judgeContent, throughLink } from './redirects.ts';
import { fork } from './shell.ts';

/** Says what a program would do, and answers with what it would print (undefined: nobody knows). */
export type Handler = (call: Call) => string | undefined;
export type Handlers = Readonly<Record<string, Handler>>;

export const noEnv: ReadonlyMap<string, string> = new Map();

type Given = { readonly stdin?: string | null; readonly cwd?: string };
type ScriptGiven = Given & { readonly args?: readonly string[]; readonly zero?: string };

/** A program that is called, with all its words expanded. */
export class Call implements Start {
  readonly name: string;
  readonly words: readonly string[];
  readonly shell: Shell;
  readonly seen: Shell;
  readonly stdin: string | null;
  readonly env: ReadonlyMap<string, string>;
  private readonly step: Step;

  constructor(name: string, { shell, seen, stdin, env }: Start, step: Step) {
    this.name = name;
    this.words = step.words.slice(1);
    this.shell = shell;
    this.seen = seen;
    this.stdin = stdin;
    this.env = env;
    this.step = step;
  }

  with(over: Partial<Call>): Call {
    const copy: Call = Object.create(Call.prototype);
    return Object.assign(copy, this, over);
  }

  get context(): GuardContext {
    return this.shell.world.context;
  }

  path(text: string): string {
    return resolvePath(text, this.shell.cwd, this.shell.world);
  }

  /** Records what the program does, and prints nothing. */
  act(verdict: Act['verdict'], category: Category, what: string, instead = remedyOf(category)): '' {
    return this.note({ kind: 'act', verdict, category, what, instead });
  }

  deny(category: Category, what: string, instead?: string): '' {
    return this.act('deny', category, what, instead);
  }

  warn(category: Category, what: string, instead?: string): '' {
    return this.act('warn', category, what, instead);
  }

  file(kind: FileEffect['kind'], target: string, more: Partial<FileEffect> = {}): void {
    const path = throughLink(kind, target, this.path(target), this.shell.world);
    if (kind !== 'read' || !isLoaded(path, this.shell)) this.note(fileEffect(kind, path, more));
  }

  /** Does the same to several files, and prints nothing. */
  files(kind: FileEffect['kind'], targets: readonly string[], more: Partial<FileEffect> = {}): '' {
    for (const target of targets) this.file(kind, target, more);
    return '';
  }

  /** Returns the content of a file that this command wrote; unknown for older files. */
  content(target: string): string {
    if (target === '/dev/stdin' && this.stdin !== null) return this.stdin;
    return contentOf(this.path(target), this.shell);
  }

  keep(target: string, content: string): void {
    const path = this.path(target);
    this.shell.world.files.set(path, content);
    if (content === PRIVATE && /^(cp|mv|install)$/.test(this.name)) return;
    const act = judgeContent(content, path, this.shell.world);
    if (act !== null) this.note(act);
  }

  /** Writes a file, and prints nothing. */
  save(target: string, content: string): '' {
    this.file('write', target);
    this.keep(target, content);
    return '';
  }

  /** Runs another program; answers with what it prints. */
  run(words: readonly string[], { stdin = this.stdin, cwd }: Given = {}): string {
    const inner = this.inner(cwd);
    const functions = new Map(inner.functions);
    // A program that starts another knows nothing of the shell's functions.
    const shell = functions.delete(words[0] ?? '') ? { ...inner, functions } : inner;
    return this.shell.world.walk.words(words, { shell, stdin, env: noEnv, seen: shell });
  }

  /** Runs text in this very shell, as `eval` does. */
  here(source: string): string {
    return this.shell.world.walk.source(source, { ...this.shell, depth: this.shell.depth + 1 });
  }

  script(source: string, { stdin = this.stdin, args = [], zero, cwd }: ScriptGiven = {}): string {
    const child = { ...this.inner(cwd), input: { text: stdin }, args };
    if (zero !== undefined) child.variables.setText('0', zero);
    return this.shell.world.walk.source(source, child);
  }

  private note(effect: Effect): '' {
    this.shell.world.note(effect, this.step);
    return '';
  }

  private inner(cwd: string | undefined): Shell {
    return fork(this.seen, cwd === undefined ? {} : { cwd: this.path(cwd) });
  }
}
