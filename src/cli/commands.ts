import {
  answerOptions,
  completionOptions,
  configOptions,
  dashboardOptions,
  demoOptions,
  doctorOptions,
  guardCheckOptions,
  guardOptions,
  initOptions,
  installOptions,
  noteOptions,
  notifyTestOptions,
  pauseOptions,
  reportOptions,
  runOptions,
  runsOptions,
  sandboxExecOptions,
  sandboxOptions,
  sandboxStatusOptions,
  showOptions,
  statsOptions,
  stopOptions,
  verdictOptions,
  watchOptions,
} from './options.ts';
import {
  prdArchiveOptions,
  prdInitOptions,
  prdRunOptions,
  prdStatusOptions,
  prdValidateOptions,
} from './prd-options.ts';
import { command, type Program } from './spec.ts';

const run = command({
  summary: 'Run the agent loop.',
  options: runOptions,
  examples: [
    ['ralph run -p "Fix the failing tests"', 'until the agent is done, 10 iterations at most'],
    ['ralph run -f PROMPT.md -m 30', 'the task from a file that you may edit meanwhile'],
    ['ralph run -p "Port to ESM" --completion-promise PORTED', 'done is <promise>PORTED</promise>'],
    [
      'ralph run -f PROMPT.md --verify "npm test" --max-cost 20',
      'believed only if the tests pass, for $20 at most',
    ],
    ['ralph run --resume', 'go on where the last run was stopped or killed'],
  ],
  details: 'The agent and the guardrails come from .ralph/settings.json (ralph init writes one).',
  load: () => import('./run.ts'),
});

const show = command({
  summary: 'Show a run: how it ended, and every verdict with its evidence.',
  args: [{ name: 'RUN', help: 'a run id or its beginning; the latest run if left out' }],
  options: showOptions,
  examples: [
    ['ralph show', 'the latest run here'],
    ['ralph show latest --json', 'the same for scripts'],
  ],
  load: () => import('./show.ts'),
});

const demo = command({
  summary: 'Watch a whole loop with a built-in agent: no key, no network, a few seconds.',
  options: demoOptions,
  examples: [['ralph demo', 'a false "done" rejected, a failing guardrail fed back, real work accepted']],
  load: () => import('./demo.ts'),
});

const init = command({
  summary: 'Write .ralph/settings.json by asking a few questions.',
  options: initOptions,
  examples: [
    ['ralph init', 'answer a few questions'],
    ['ralph init --yes', 'take what is found in this folder'],
  ],
  load: () => import('./init.ts'),
});

const config = command({
  summary: 'Print the settings in force.',
  options: configOptions,
  examples: [['ralph config --explain', 'every value and the file, variable or default it comes from']],
  load: () => import('./config.ts'),
});

const doctor = command({
  summary: 'Check that everything a run needs is there and works, by trying it.',
  options: doctorOptions,
  examples: [
    ['ralph doctor', 'what is wrong, and what to do about it'],
    ['ralph doctor --agent codex', 'another agent than the one in the settings'],
  ],
  details: 'Exit code 1 if a check failed, 0 otherwise: warnings do not keep a run from working.',
  load: () => import('./doctor.ts'),
});

const runs = command({
  summary: 'List the runs of this working copy.',
  options: runsOptions,
  examples: [['ralph runs', 'newest last']],
  load: () => import('./runs.ts'),
});

const verdict = command({
  summary: 'Print each claim with its evidence, and judge the recorded run again.',
  args: [{ name: 'RUN', help: 'a run id or its beginning; the latest run if left out' }],
  options: verdictOptions,
  examples: [['ralph verdict', 'can "done" be trusted?']],
  load: () => import('./verdict.ts'),
});

const note = command({
  summary: 'Tell the agent of the running loop something, in its next prompt.',
  args: [{ name: 'TEXT', help: 'what to tell it', required: true, many: true }],
  options: noteOptions,
  examples: [['ralph note "The API key is in .env.test"', 'from another terminal']],
  load: () => import('./note.ts'),
});

const answer = command({
  summary: 'Answer what the last run asked; the next run starts with it.',
  args: [{ name: 'TEXT', help: 'the answer', required: true, many: true }],
  options: answerOptions,
  examples: [['ralph answer "Use tabs" && ralph run --resume', 'after exit code 4']],
  load: () => import('./answer.ts'),
});

const stop = command({
  summary: 'Stop the loop that runs here, or one inside a session.',
  args: [{ name: 'RUN', help: 'a run id or its beginning; the loop of this folder if left out' }],
  options: stopOptions,
  examples: [
    ['ralph stop', 'when this iteration is over'],
    ['ralph stop 20260704-2315', 'a loop inside a session, which may be gone (ralph runs lists it)'],
    ['ralph stop --now', 'at once; ralph run --resume goes on later'],
  ],
  load: () => import('./stop.ts'),
});

const install = command({
  summary:
    "Put the loop into an agent's own sessions: /ralph-loop in Claude Code, Codex, Gemini CLI, OpenCode.",
  args: [{ name: 'HOST', help: 'claude, codex, gemini or opencode', required: true }],
  options: installOptions,
  examples: [
    ['ralph install claude --dry-run', 'show what would change'],
    ['ralph install claude --user', 'hooks and commands for all your folders'],
    ['ralph install codex', 'hooks in .codex/hooks.json of this folder'],
  ],
  load: () => import('./install.ts'),
});

const uninstall = command({
  summary: 'Take the loop out again; files that nobody touched since are as they were.',
  args: [{ name: 'HOST', help: 'claude, codex, gemini or opencode', required: true }],
  options: installOptions,
  examples: [['ralph uninstall claude', 'undo ralph install claude']],
  load: () => import('./uninstall.ts'),
});

const guardDetails = 'Rules of the project stand in .ralph/guard.json. See docs/guard.md.';
const guardedCommand = [{ name: 'COMMAND', help: 'the command as one word', many: true }];

const guardCheck = command({
  summary: 'Say whether a shell command may run: exit code 0 allows, 1 denies.',
  args: guardedCommand,
  options: guardCheckOptions,
  examples: [
    ["ralph guard check 'rm -rf ~'", 'exit code 1 and the reason'],
    ['ralph guard check --json --stdin < commands.jsonl', 'many in one go'],
  ],
  details: guardDetails,
  load: async () => ({ main: (await import('./guard.ts')).check }),
});

const guardExplain = command({
  summary: 'Show what a shell command would do, step by step.',
  args: guardedCommand,
  options: guardOptions,
  examples: [["ralph guard explain 'cd /tmp && rm -rf build'", 'each step and what it does']],
  details: guardDetails,
  load: async () => ({ main: (await import('./guard.ts')).explain }),
});

const guardTest = command({
  summary: 'Compare the guard with verdicts of your own.',
  args: [{ name: 'FILE', help: 'JSON lines with "command" and "verdict"', required: true }],
  options: guardOptions,
  examples: [['ralph guard test corpus.jsonl', 'how often it agrees with them']],
  details: guardDetails,
  load: async () => ({ main: (await import('./guard.ts')).test }),
});

const watch = command({
  summary: 'Watch a run: timeline, tool, todo list, guardrails and output on one screen.',
  args: [{ name: 'RUN', help: 'a run id or its beginning; the latest run, and those after it, if left out' }],
  options: watchOptions,
  examples: [
    ['ralph watch', 'from another terminal, while a loop runs here; ? shows the keys'],
    ['ralph watch | tee story.txt', 'the same as text, until the run is over'],
  ],
  details: 'It only reads: to quit it changes nothing about the loop.',
  load: () => import('./watch.ts'),
});

const stats = command({
  summary: 'What a run came to: cost, time by kind, claims, reviews, guardrails.',
  args: [{ name: 'RUN', help: 'a run id or its beginning; the latest run if left out' }],
  options: statsOptions,
  examples: [
    ['ralph stats', 'the latest run'],
    ['ralph stats --all --json', 'what an accepted task costs here, for scripts'],
  ],
  load: () => import('./stats.ts'),
});

const notifyTest = command({
  summary: 'Send a test notification by every channel of the settings, or by one.',
  args: [{ name: 'CHANNEL', help: 'bell, desktop, webhook or command; all that are set up if left out' }],
  options: notifyTestOptions,
  examples: [
    ['ralph notify test', 'does what is in the settings arrive?'],
    ['ralph notify test desktop', 'does this machine show them?'],
  ],
  details:
    'Exit code 1 if one of them failed. What you are told about, and how, stands under notify in the settings.',
  load: async () => ({ main: (await import('./notify.ts')).test }),
});

const prdRun = command({
  summary: 'Work off the stories of a PRD: implement, review, fix, until every story is approved.',
  options: prdRunOptions,
  examples: [
    ['ralph prd run', '15 iterations at most, each with a fresh agent'],
    ['ralph prd run -n 40 --model opus --review-cap 3', 'more iterations, fewer reviews of a story'],
    ['ralph prd run --skip-review', 'no reviews, for work of little consequence'],
    ['ralph prd run --agent codex --verify "npm test"', 'another agent, and a check of your own at the end'],
  ],
  details: 'Exit code 0 when every story is done, 1 when the iterations ran out. See docs/prd.md.',
  load: () => import('./prd-run.ts'),
});

const prdInit = command({
  summary: 'Start a PRD: ralph/prd.md, tasks.json, progress.txt and prompt.md.',
  options: prdInitOptions,
  examples: [['ralph prd init --name login', 'on the branch ralph/login']],
  details: 'Files that are there stay as they are; --force writes over them.',
  load: async () => ({ main: (await import('./prd-files.ts')).init }),
});

const prdArchive = command({
  summary: 'Move a finished PRD to ralph-archive/, commit it, and start over.',
  options: prdArchiveOptions,
  examples: [['ralph prd archive --label login --include-logs', 'with the logs of its iterations']],
  load: async () => ({ main: (await import('./prd-files.ts')).archive }),
});

const prdStatus = command({
  summary: 'Show the stories of a PRD: where each stands, its reviews, and how many are left.',
  options: prdStatusOptions,
  examples: [
    ['ralph prd status', 'the board'],
    ['ralph prd status --json', 'the same for scripts'],
  ],
  load: async () => ({ main: (await import('./prd-status.ts')).status }),
});

const prdValidate = command({
  summary: 'Check tasks.json: its fields, its dependencies and its reviews.',
  options: prdValidateOptions,
  examples: [['ralph prd validate && ralph prd run', 'exit code 1 if something is wrong']],
  load: async () => ({ main: (await import('./prd-status.ts')).validate }),
});

const sandboxStatus = command({
  summary: 'Show which sandboxes work on this machine, and what is kept for this project.',
  options: sandboxStatusOptions,
  examples: [['ralph sandbox status', 'before the first ralph run --sandbox']],
  load: async () => ({ main: (await import('./sandbox.ts')).status }),
});

const sandboxShell = command({
  summary: 'Open a shell in the sandbox of this project, to see what the agent sees.',
  options: sandboxExecOptions,
  examples: [['ralph sandbox shell', 'what can be read, written and reached?']],
  load: async () => ({ main: (await import('./sandbox.ts')).shell }),
});

const sandboxExec = command({
  summary: 'Run a command in the sandbox of this project.',
  args: [{ name: 'COMMAND', help: 'the program and its words, after --', required: true, many: true }],
  options: sandboxExecOptions,
  examples: [
    ['ralph sandbox exec -- npm test', 'does it pass in there, too?'],
    ['ralph sandbox exec --agent claude -- claude -p hello', 'an agent by itself'],
  ],
  load: async () => ({ main: (await import('./sandbox.ts')).exec }),
});

const sandboxRm = command({
  summary: 'Remove the sandbox of this project, with the home that it kept.',
  options: sandboxOptions,
  examples: [['ralph sandbox rm', 'the next run makes a new one']],
  load: async () => ({ main: (await import('./sandbox.ts')).rm }),
});

const pause = command({
  summary: 'Let the loop that runs here wait after this iteration.',
  options: pauseOptions,
  examples: [['ralph pause', 'ralph unpause lets it go on']],
  load: async () => ({ main: (await import('./pause.ts')).pause }),
});

const unpause = command({
  summary: 'Let a paused loop go on.',
  options: pauseOptions,
  examples: [['ralph unpause', 'after ralph pause']],
  load: async () => ({ main: (await import('./pause.ts')).unpause }),
});

const report = command({
  summary: 'Write a run as one HTML file with every picture of it, to keep or to send.',
  args: [{ name: 'RUN', help: 'a run id or its beginning; the latest run if left out' }],
  options: reportOptions,
  examples: [
    ['ralph report', 'the latest run here'],
    ['ralph report --all -o night.html', 'all runs of this folder'],
    ['ralph report --md', 'Markdown, for a pull request'],
  ],
  details:
    'The file needs no network. It holds what the journal, the logs and git say: look before you send it.',
  load: () => import('./report.ts'),
});

const dashboard = command({
  summary: 'Serve a local web page with all loops and every picture of them, live.',
  options: dashboardOptions,
  examples: [
    ['ralph dashboard', 'opens it in the browser; Ctrl-C ends it'],
    ['ralph dashboard --no-open --port 7070', 'prints the address with its token'],
    ['ralph dashboard --control', 'with buttons to pause, resume, stop, note and answer'],
  ],
  details: 'Only this machine can reach it, and only with the token of this start. See docs/dashboard.md.',
  load: () => import('./dashboard.ts'),
});

const completion = command({
  summary: 'Print the completion script of a shell.',
  args: [{ name: 'SHELL', help: 'bash, zsh or fish', required: true }],
  options: completionOptions,
  examples: [
    ['eval "$(ralph completion bash)"', 'in ~/.bashrc; the same with zsh in ~/.zshrc'],
    ['ralph completion fish > ~/.config/fish/completions/ralph.fish', 'once'],
  ],
  load: async () => (await import('./completion.ts')).completionOf(ralph),
});

export const ralph: Program = {
  name: 'ralph',
  summary: 'keeps a coding agent working until its task is really done',
  defaultCommand: 'run',
  overview: async (cwd) => (await import('./overview.ts')).overview(cwd),
  commands: {
    run,
    init,
    runs,
    show,
    watch,
    stats,
    verdict,
    note,
    answer,
    stop,
    pause,
    unpause,
    dashboard,
    report,
    config,
    'notify test': notifyTest,
    'prd init': prdInit,
    'prd run': prdRun,
    'prd status': prdStatus,
    'prd validate': prdValidate,
    'prd archive': prdArchive,
    doctor,
    demo,
    'sandbox status': sandboxStatus,
    'sandbox shell': sandboxShell,
    'sandbox exec': sandboxExec,
    'sandbox rm': sandboxRm,
    'guard check': guardCheck,
    'guard explain': guardExplain,
    'guard test': guardTest,
    install,
    uninstall,
    completion,
  },
  groups: {
    sandbox: 'Where the agent runs, apart from the rest of the machine.',
    guard: 'Ask the guard what a shell command would do, and whether it may.',
    notify: 'Notifications: try them out.',
    prd: 'A PRD worked off story by story, with a review that cannot be bypassed.',
  },
  topics: {
    'exit-codes': {
      summary: 'what each exit code means',
      text: async () => (await import('./topics.ts')).exitCodes(),
    },
    promise: {
      summary: 'when is it done: claims and how they are judged',
      text: async () => (await import('./topics.ts')).promise,
    },
    guardrails: {
      summary: 'commands that have to pass',
      text: async () => (await import('./topics.ts')).guardrails,
    },
    environment: {
      summary: 'variables that matter',
      text: async () => (await import('./topics.ts')).environment,
    },
    settings: {
      summary: 'every setting, its default and its environment variable',
      text: async () => (await import('./settings-topic.ts')).settingsTopic(),
    },
  },
};
