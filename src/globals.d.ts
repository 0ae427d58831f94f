/** Filled in by the build: from package.json, and from the tables of commands. */
declare const __VERSION__: string;
