import { variableName } from '../../config/settings.ts';
import { settingTable } from '../../config/settings-schema.ts';
import { otherExits, outcomes } from '../../core/outcome.ts';

/** `ralph help exit-codes`, from the tables in core. */
export function exitCodes(): string {
  const rows = [...Object.entries(outcomes), ...Object.entries(otherExits)]
    .map(([name, { exitCode, meaning }]) => ({ name: /^[A-Z_]+$/.test(name) ? name : '', exitCode, meaning }))
    .sort((a, b) => a.exitCode - b.exitCode);
  const lines = rows.map(
    ({ name, exitCode, meaning }) => `  ${String(exitCode).padStart(3)}  ${name.padEnd(22)}  ${meaning}`,
  );
  return ['Exit codes of ralph run', '', ...lines, ''].join('\n');
}

/** `ralph help settings`, from the table of settings. */
export function settingsTopic(): string {
  const settings = [...settingTable].filter(([key]) => key !== '$schema');
  const lines = settings.map(([key, { description, fallback }]) => {
    const preset = fallback === undefined ? '' : ` Default: ${JSON.stringify(fallback)}`;
    return `  ${key}, ${variableName(key)}\n      ${description}${preset}`;
  });
  return [
    'Settings, and the environment variable of each',
    '',
    'Later ones win: defaults, $XDG_CONFIG_HOME/ralph/settings.json, .ralph/settings.json,',
    '.ralph/settings.local.json, the environment, the command line. Objects are merged, lists are replaced.',
    'A duration is "90s", "15m", "1h30m" or a number of seconds. ralph config --explain shows what is in force.',
    '',
    ...lines,
    '',
  ].join('\n');
}

export const promise = `When is it done?

The agent claims to be done by writing a tag in its own text: <response>DONE</response>, or
<promise>DONE</promise> with --completion-promise DONE. Tool output, thinking, your prompt and subagents do not count.

  --promise-match claim      the exact tag alone on its line, behind a finished clause, or as the last word of a sentence
                             such as "Task finished"; not where a sentence only mentions it ("I will not output ... yet")
  --promise-match substring  the exact tag anywhere
  --promise-match lenient    the tag in any case, with blanks inside
  --done-pattern REGEX       a match in the agent's text is a claim, too. Patterns are matched in linear time (RE2):
                             look-ahead, look-behind and back-references are refused

A claim is then judged: the turn ended well, at least one tool call since the loop began (--min-tool-calls), all
guardrails passed, protectedPaths unchanged, every --verify command passed. The verdict goes into the next prompt.

<promise>BLOCKED: why</promise> and <promise>DECIDE: question</promise> end the loop for a human (exit code 4).

See what was claimed and why it was believed: ralph verdict
`;

export const guardrails = `Guardrails

Shell commands in .ralph/settings.json that have to pass after each iteration:

  "guardrails": [{ "command": "npm test", "failAction": "APPEND", "hint": "Fix the code, not the test.", "timeout": "10m" }]

When one fails, its output joins the next prompt: APPEND after the task, PREPEND before it, REPLACE instead of it.
The agent sees outputTruncateChars characters of it, a fifth from its beginning and the rest from its end, with the
lines between that look like failures; all of it is in .ralph/guardrail_<iteration>_<command>.log.
A claim is rejected as long as a guardrail fails. Commands run by sh -c (cmd /c on Windows) and are ended with all their
children after guardrailTimeout (15m).
`;

export const environment = `Environment

  RALPH_<SETTING>    any setting: RALPH_MAXIMUM_ITERATIONS=5, RALPH_AGENT_COMMAND=codex (ralph help settings)
  RALPH_RUN_ID       set by the loop for the agent and all that it starts
  RALPH_ITERATION    the same: which iteration this is
  RALPH_PRD_DIR      set by ralph prd run: the folder of the PRD, for the hooks of the agent
  CLAUDE_CONTEXT_WINDOW, RALPH_CHARS_PER_TOKEN   tune the context alerts of the plugin (docs/prd.md)
  RALPH_TRUST=1      use what came with a folder without asking, for CI (docs/trust.md)
  RALPH_EMOJI=0      plain markers such as [OK] instead of emoji
  NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE, TERM=dumb
  XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_CACHE_HOME   where things outside the working copy go
  RALPH_DEBUG=1      the stack of an unexpected error
`;
