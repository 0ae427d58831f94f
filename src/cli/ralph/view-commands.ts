import { command } from '../kernel/spec.ts';
import * as options from './options.ts';

/** Commands that only look. */
export const viewCommands = {
  runs: command({
    summary: 'List the runs of this working copy.',
    options: options.jsonOptions,
    examples: [['ralph runs', 'newest last']],
    load: async () => ({ main: (await import('./show.ts')).list }),
  }),
  show: command({
    summary: 'Show a run: how it ended, and every verdict with its evidence.',
    args: [{ name: 'RUN', help: 'a run id or its beginning; the latest run if left out' }],
    options: options.showOptions,
    examples: [
      ['ralph show', 'the latest run here'],
      ['ralph show latest --json', 'the same for scripts'],
      ['ralph show latest --diff 2', 'what its second iteration changed'],
    ],
    load: () => import('./show.ts'),
  }),
  watch: command({
    summary: 'Watch a run: timeline, tool, todo list, guardrails and output on one screen.',
    args: [
      { name: 'RUN', help: 'a run id or its beginning; the latest run, and those after it, if left out' },
    ],
    options: options.watchOptions,
    examples: [
      ['ralph watch', 'from another terminal, while a loop runs here; ? shows the keys'],
      ['ralph watch | tee story.txt', 'the same as text, until the run is over'],
    ],
    details: 'It only reads: to quit it changes nothing about the loop.',
    load: () => import('./watch.ts'),
  }),
  stats: command({
    summary: 'What a run came to: cost, time by kind, claims, reviews, guardrails.',
    args: [{ name: 'RUN', help: 'a run id or its beginning; the latest run if left out' }],
    options: options.statsOptions,
    examples: [
      ['ralph stats', 'the latest run'],
      ['ralph stats --all --json', 'what an accepted task costs here, for scripts'],
      ['ralph stats --all --csv > runs.csv', 'every run, for a spreadsheet'],
    ],
    load: () => import('./stats.ts'),
  }),
  verdict: command({
    summary: 'Print each claim with its evidence, and judge the recorded run again.',
    args: [{ name: 'RUN', help: 'a run id or its beginning; the latest run if left out' }],
    options: options.jsonOptions,
    examples: [['ralph verdict', 'can "done" be trusted?']],
    load: () => import('./verdict.ts'),
  }),
  report: command({
    summary: 'Write a run as one HTML file with all its charts, to keep or to send.',
    args: [{ name: 'RUN', help: 'a run id or its beginning; the latest run if left out' }],
    options: options.reportOptions,
    examples: [
      ['ralph report', 'the latest run here'],
      ['ralph report --all -o night.html', 'all runs of this folder'],
      ['ralph report --md', 'Markdown, for a pull request'],
    ],
    details: 'The file needs no network. It has what journal, logs and git say: look before you send it.',
    load: () => import('./report.ts'),
  }),
  dashboard: command({
    summary: 'Serve a local web page with all loops and their charts, live.',
    options: options.dashboardOptions,
    examples: [
      ['ralph dashboard', 'opens it in the browser; Ctrl-C ends it'],
      ['ralph dashboard --no-open --port 7070', 'prints the address with its token'],
      ['ralph dashboard --control', 'with buttons to pause, resume, stop, note and answer'],
    ],
    details: 'Only this machine can reach it, and only with the token of this start. See docs/dashboard.md.',
    load: () => import('./dashboard.ts'),
  }),
};
