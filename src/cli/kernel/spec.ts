/** One option of a command. Parsing, help and shell completion are made from the table of options. */
export type Option = {
  /** `optional` may stand alone or have a value; `strings` may come several times. */
  readonly type: 'boolean' | 'string' | 'optional' | 'strings' | 'count' | 'number' | 'duration';
  readonly short?: string;
  /** Other names for the same thing; one of a single letter works and is offered nowhere. */
  readonly aliases?: readonly string[];
  /** Name of the value in help. */
  readonly value?: string;
  /** The only allowed values. */
  readonly choices?: readonly string[];
  /** A boolean that also exists as `--no-NAME`. */
  readonly negatable?: boolean;
  readonly help: string;
};

export type Options = Readonly<Record<string, Option>>;

export type Argument = {
  readonly name: string;
  readonly help: string;
  readonly required?: boolean;
  readonly many?: boolean;
};

/** A command as data; its code is loaded only when it is called. */
export type CommandSpec<O extends Options = Options> = {
  readonly summary: string;
  readonly args?: readonly Argument[];
  readonly options: O;
  readonly examples: readonly (readonly [command: string, meaning: string])[];
  readonly details?: string;
  /** True if it is about the folder where it is typed; others go to the project around it, as git's do. */
  readonly isHere?: true;
  readonly load: () => Promise<{ main(context: Context, input: Input<O>): Promise<ExitCode> | ExitCode }>;
};

/** Exit code of a command; nothing is 0. */
// biome-ignore lint/suspicious/noConfusingVoidType: a function without a return statement returns void
type ExitCode = number | void;

type ValueOf<T extends Option['type']> = T extends 'boolean'
  ? boolean
  : T extends 'strings'
    ? readonly string[]
    : T extends 'count' | 'number' | 'duration'
      ? number
      : string;

/** Parsed words. `optional` without a value is the empty string; durations are milliseconds. */
export type Input<O extends Options> = {
  readonly values: { readonly [K in keyof O]?: ValueOf<O[K]['type']> };
  readonly args: readonly string[];
};

/** The environment of a command. */
export type Context = {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: Output;
  readonly stderr: Output;
};

/** Where a command writes. */
export type Output = {
  /** Writes synchronously, for output that is printed once. */
  write(text: string | Uint8Array): void;
  readonly isTTY: boolean;
  /** Node's stream, which writes asynchronously and reports a new size. `write` uses it once it was opened. */
  readonly stream: NodeJS.WriteStream;
};

/** A command in a table, without the types of its options. */
export type AnyCommand = Omit<CommandSpec, 'load'> & {
  readonly load: () => Promise<{ main(context: Context, input: never): Promise<ExitCode> | ExitCode }>;
};

export type Program = {
  readonly name: string;
  readonly summary: string;
  /** Runs if the first word is an option. */
  readonly defaultCommand?: string;
  /** Start of error messages (`error:`). */
  readonly errorStart?: string;
  /** Finds the folder that the commands are about, from the one where they are typed. */
  readonly projectFolder?: (context: Context) => string;
  /** By name; a name of two words belongs to a group. */
  readonly commands: Readonly<Record<string, AnyCommand>>;
  /** Summary of each group, by its name. */
  readonly groups?: Readonly<Record<string, string>>;
  readonly topics: Readonly<
    Record<string, { readonly summary: string; readonly text: () => Promise<string> }>
  >;
};

/** The commands of a group, by the word after its name. */
export function commandsIn(program: Program, group: string): [name: string, spec: AnyCommand][] {
  const start = `${group} `;
  return Object.entries(program.commands).flatMap(([name, spec]) =>
    name.startsWith(start) ? [[name.slice(start.length), spec]] : [],
  );
}

/** The possible first words: commands and groups, each with its summary. */
export function firstWords(program: Program): [word: string, summary: string][] {
  const words = new Map<string, string>();
  for (const [name, spec] of Object.entries(program.commands)) {
    const [first = name, second] = name.split(' ');
    words.set(first, second === undefined ? spec.summary : (program.groups?.[first] ?? ''));
  }
  return [...words];
}

/** Keeps the option types of a command while it stands in a table. */
export function command<const O extends Options>(spec: CommandSpec<O>): CommandSpec<O> {
  return spec;
}
