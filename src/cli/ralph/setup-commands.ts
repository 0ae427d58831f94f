import { command } from '../kernel/spec.ts';
import * as options from './options.ts';

/** Commands that set things up, and the sandbox. */
export const setupCommands = {
  config: command({
    summary: 'Print the settings in force.',
    options: options.configOptions,
    examples: [['ralph config --explain', 'every value and the file, variable or default it comes from']],
    load: () => import('./config.ts'),
  }),
  trust: command({
    summary: 'Trust the settings, guard rules, prompts and hooks that came with this folder.',
    options: options.trustOptions,
    examples: [
      ['ralph trust --show', 'what they can do, in plain words'],
      ['ralph trust', 'allow it; a change of what they can do is asked for again'],
      ['ralph trust --revoke', 'take it back'],
    ],
    details: 'What you wrote yourself on this machine needs no trust. See docs/trust.md.',
    load: () => import('./trust.ts'),
  }),
  'notify test': command({
    summary: 'Send a test notification by every channel of the settings, or by one.',
    args: [{ name: 'CHANNEL', help: 'bell, desktop, webhook or command; all that are set up if left out' }],
    options: options.jsonOptions,
    examples: [
      ['ralph notify test', 'does what is in the settings arrive?'],
      ['ralph notify test desktop', 'does this machine show them?'],
    ],
    details: 'Exit code 1 if one of them failed. Channels and kinds stand under notify in the settings.',
    load: async () => ({ main: (await import('./notify.ts')).test }),
  }),
  doctor: command({
    summary: 'Check that everything a run needs is there and works, by trying it.',
    options: options.doctorOptions,
    examples: [
      ['ralph doctor', 'what is wrong, and what to do about it'],
      ['ralph doctor --agent codex', 'another agent than the one in the settings'],
    ],
    details: 'Exit code 1 if a check failed, 0 otherwise: warnings do not keep a run from working.',
    load: () => import('./doctor.ts'),
  }),
  demo: command({
    summary: 'Watch a whole loop with a built-in agent: no key, no network, a few seconds.',
    options: options.demoOptions,
    examples: [['ralph demo', 'a false "done" rejected, a failing guardrail fed back, real work accepted']],
    isHere: true,
    load: () => import('./demo.ts'),
  }),
  install: command({
    summary: "Put /ralph-loop into an agent's own sessions: Claude Code, Codex, Gemini CLI, OpenCode.",
    args: [{ name: 'HOST', help: 'claude, codex, gemini or opencode', required: true }],
    options: options.installOptions,
    examples: [
      ['ralph install claude --dry-run', 'show what would change'],
      ['ralph install claude --user', 'hooks and commands for all your folders'],
      ['ralph install codex', 'hooks in .codex/hooks.json of this folder'],
    ],
    isHere: true,
    load: () => import('./install.ts'),
  }),
  uninstall: command({
    summary: 'Take the loop out again; files that nobody touched since are as they were.',
    args: [{ name: 'HOST', help: 'claude, codex, gemini or opencode', required: true }],
    options: options.installOptions,
    examples: [['ralph uninstall claude', 'undo ralph install claude']],
    isHere: true,
    load: async () => ({ main: (await import('./install.ts')).uninstall }),
  }),
  'sandbox status': command({
    summary: 'Show which sandboxes work on this machine, and what is kept for this project.',
    options: options.jsonOptions,
    examples: [['ralph sandbox status', 'before the first ralph run --sandbox']],
    load: async () => ({ main: (await import('./sandbox.ts')).status }),
  }),
  'sandbox shell': command({
    summary: 'Open a shell in the sandbox of this project, to see what the agent sees.',
    options: options.sandboxExecOptions,
    examples: [['ralph sandbox shell', 'what can be read, written and reached?']],
    load: async () => ({ main: (await import('./sandbox.ts')).shell }),
  }),
  'sandbox exec': command({
    summary: 'Run a command in the sandbox of this project.',
    args: [{ name: 'COMMAND', help: 'the program and its words, after --', required: true, many: true }],
    options: options.sandboxExecOptions,
    examples: [
      ['ralph sandbox exec -- npm test', 'does it pass in there, too?'],
      ['ralph sandbox exec --agent claude -- claude -p hello', 'an agent by itself'],
    ],
    load: async () => ({ main: (await import('./sandbox.ts')).exec }),
  }),
  'sandbox rm': command({
    summary: 'Remove the sandbox of this project, with the home that it kept.',
    options: options.sandboxOptions,
    examples: [['ralph sandbox rm', 'the next run makes a new one']],
    load: async () => ({ main: (await import('./sandbox.ts')).rm }),
  }),
};
