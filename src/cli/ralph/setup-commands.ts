import { command } from '../kernel/spec.ts';
import * as options from './options.ts';

export const init = command({
  summary: 'Write .ralph/settings.json by asking a few questions.',
  options: options.initOptions,
  examples: [
    ['ralph init', 'answer a few questions'],
    ['ralph init --yes', 'take what is found in this folder'],
  ],
  load: () => import('./init.ts'),
});

export const config = command({
  summary: 'Print the settings in force.',
  options: options.configOptions,
  examples: [['ralph config --explain', 'every value and the file, variable or default it comes from']],
  load: () => import('./config.ts'),
});

export const trust = command({
  summary: 'Trust the settings, guard rules, prompts and hooks that came with this folder.',
  options: options.trustOptions,
  examples: [
    ['ralph trust --show', 'what they can do, in plain words'],
    ['ralph trust', 'allow it; a change of what they can do is asked for again'],
    ['ralph trust --revoke', 'take it back'],
  ],
  details: 'What you wrote yourself on this machine needs no trust. See docs/trust.md.',
  load: () => import('./trust.ts'),
});

export const notifyTest = command({
  summary: 'Send a test notification by every channel of the settings, or by one.',
  args: [{ name: 'CHANNEL', help: 'bell, desktop, webhook or command; all that are set up if left out' }],
  options: options.jsonOptions,
  examples: [
    ['ralph notify test', 'does what is in the settings arrive?'],
    ['ralph notify test desktop', 'does this machine show them?'],
  ],
  details: 'Exit code 1 if one of them failed. Channels and kinds stand under notify in the settings.',
  load: async () => ({ main: (await import('./notify.ts')).test }),
});

export const doctor = command({
  summary: 'Check that everything a run needs is there and works, by trying it.',
  options: options.doctorOptions,
  examples: [
    ['ralph doctor', 'what is wrong, and what to do about it'],
    ['ralph doctor --agent codex', 'another agent than the one in the settings'],
  ],
  details: 'Exit code 1 if a check failed, 0 otherwise: warnings do not keep a run from working.',
  load: () => import('./doctor.ts'),
});

export const demo = command({
  summary: 'Watch a whole loop with a built-in agent: no key, no network, a few seconds.',
  options: options.demoOptions,
  examples: [['ralph demo', 'a false "done" rejected, a failing guardrail fed back, real work accepted']],
  load: () => import('./demo.ts'),
});

export const install = command({
  summary: "Put /ralph-loop into an agent's own sessions: Claude Code, Codex, Gemini CLI, OpenCode.",
  args: [{ name: 'HOST', help: 'claude, codex, gemini or opencode', required: true }],
  options: options.installOptions,
  examples: [
    ['ralph install claude --dry-run', 'show what would change'],
    ['ralph install claude --user', 'hooks and commands for all your folders'],
    ['ralph install codex', 'hooks in .codex/hooks.json of this folder'],
  ],
  load: () => import('./install.ts'),
});

export const uninstall = command({
  summary: 'Take the loop out again; files that nobody touched since are as they were.',
  args: [{ name: 'HOST', help: 'claude, codex, gemini or opencode', required: true }],
  options: options.installOptions,
  examples: [['ralph uninstall claude', 'undo ralph install claude']],
  load: async () => ({ main: (await import('./install.ts')).uninstall }),
});
