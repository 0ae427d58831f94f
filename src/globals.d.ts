/** Filled in by the build: from package.json, and from the tables of commands. */
declare const __VERSION__: string;
declare const __RALPH_HELP__: string;
declare const __SWARM_HELP__: string;
