import type { AndOr, CompoundList, Function as FunctionNode, ParsedScript, PipelineNode } from 'unbash';
import type { Category } from './categories.ts';
import type { OwnFiles } from './own-files.ts';
import type { GuardPolicy } from './policy-schema.ts';
import type { Scope } from './scope.ts';

export type { Category } from './categories.ts';

export type Verdict = 'allow' | 'warn' | 'deny';

export type Environment = Readonly<Record<string, string | undefined>>;

export type GuardContext = {
  readonly cwd: string;
  readonly home: string;
  readonly projectRoot: string;
  /** Nobody is there to ask: what cannot be judged is denied. */
  readonly unattended: boolean;
  readonly env: Environment;
  readonly policy?: GuardPolicy;
  /** Resolves symbolic links of a path on disk. */
  readonly realPath?: (path: string) => string;
};

/** Something that happens to a file; `how` of a write says whether what was there is lost. */
export type FileEffect = {
  readonly kind: 'delete' | 'write' | 'read';
  readonly path: string;
  readonly recursive: boolean;
  readonly how: 'create' | 'append' | 'overwrite' | 'mode';
};

/** An effect other than on a file, already judged. */
export type Act = {
  readonly kind: 'act';
  readonly category: Category;
  readonly verdict: 'warn' | 'deny';
  readonly what: string;
  readonly instead: string;
};

export type Effect = FileEffect | Act;

export type Finding = {
  readonly verdict: Verdict;
  readonly category?: Category;
  readonly reason?: string;
};

export type Step = {
  readonly depth: number;
  readonly words: readonly string[];
  readonly effects: Effect[];
};

/** State shared by all shells of one judgement. */
export type World = {
  readonly context: GuardContext;
  readonly walk: Walk;
  readonly effects: Effect[];
  readonly steps: Step[];
  readonly files: OwnFiles;
  /** Folders that the command fetched, with where they came from. */
  readonly fetched: Map<string, string>;
  readonly links: Map<string, string>;
  readonly gitAliases: Map<string, string>;
  readonly atExit: (() => string)[];
  /** True once variables were loaded from a private file: then all of them are private. */
  hasLoaded: boolean;
  work: number;
  readonly note: (effect: Effect, step?: Step) => void;
};

export type Input = { text: string | null };

/** A shell as far as it can be known before it runs. */
export type Shell = {
  cwd: string;
  readonly world: World;
  readonly variables: Scope;
  readonly functions: Map<string, FunctionNode['body']>;
  readonly aliases: Map<string, string>;
  readonly calls: readonly string[];
  args: readonly string[];
  readonly input: Input;
  readonly depth: number;
  readonly forked: boolean;
  /** True if the output becomes variables, as in `export $(cat .env)`, and is not printed. */
  readonly loads: boolean;
};

export type Start = {
  readonly shell: Shell;
  /** The shell as the program sees it, with the variables of this call. */
  readonly seen: Shell;
  readonly stdin: string | null;
  /** Variables set for this call alone. */
  readonly env: ReadonlyMap<string, string>;
};

/** Walks parts of a command; each answers with what would be printed. */
export type Walk = {
  /** Runs a command substitution. */
  readonly capture: (script: ParsedScript | undefined, shell: Shell) => string;
  readonly source: (source: string, shell: Shell) => string;
  readonly words: (words: readonly string[], start: Start) => string;
  readonly list: (list: CompoundList, shell: Shell) => string;
  readonly node: (node: PipelineNode | AndOr | CompoundList, shell: Shell) => string;
};
