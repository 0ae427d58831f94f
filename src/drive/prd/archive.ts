import { basename, join, relative } from 'node:path';
import { RalphError } from '../../core/error.ts';
import { isObject } from '../../core/json.ts';
import type { Story } from '../../core/review/story.ts';
import { oneLine } from '../../core/text.ts';
import { readText, refuseLinkedFolders, removeIfThere, writeAtomic } from '../../os/files/files.ts';
import { makeNewFolder, moveFolder } from '../../os/files/new-folder.ts';
import { commitPaths, currentBranch } from '../../os/git/git.ts';
import { freshFiles } from './init.ts';
import { stateOf } from './summary.ts';
import { type PrdPaths, type PrdPlace, readTasksFile } from './tasks.ts';
import { validTasks } from './turn-check.ts';

type PrdArchive = PrdPlace & {
  readonly templates: string;
  readonly label: string | undefined;
  readonly includeLogs: boolean;
  readonly now: number;
};

/**
 * Copies the PRD to `ralph-archive/`, and starts over with fresh templates. Returns the folder, and why it was not
 * committed (null if it was).
 */
export async function archivePrd(options: PrdArchive) {
  const { projectDir, paths, templates, now } = options;
  const root = paths.top;
  const files = [paths.prd, paths.tasks, paths.progress].flatMap((path) => {
    const text = readText(path, { root });
    return text === null ? [] : [{ path, text }];
  });
  if (files.length === 0) {
    throw new RalphError('no-prd', `there is no PRD to archive: ${paths.root} has none of its files`, {
      remedy: 'ralph prd init',
    });
  }
  // Refuses a link in place of the logs, which could lead out of the project.
  if (options.includeLogs) refuseLinkedFolders(join(paths.logs, 'any'), root);
  const date = new Date(now).toISOString().slice(0, 10);
  const tasks = looseTasks(paths);
  const branch = tasks?.branchName ?? (await currentBranch(projectDir));
  const name = archiveName(options.label ?? branch?.replace(/^ralph\//, '') ?? '');
  const folder = makeNewFolder(join(projectDir, 'ralph-archive'), `${date}-${name}`);
  // Completes the archive before it resets anything, so that a crash loses nothing.
  for (const { path, text } of files) writeAtomic(join(folder, basename(path)), text, { mode: 0o644 });
  const range = dateRange(readText(paths.progress), date);
  writeAtomic(join(folder, 'summary.md'), summary(name, range, tasks), { mode: 0o644 });
  if (options.includeLogs && moveFolder(paths.logs, join(folder, 'logs'))) {
    // Archived logs are committed: removes the file that keeps logs out of git.
    removeIfThere(join(folder, 'logs/.gitignore'));
  }
  const newFiles = freshFiles(templates, paths, { date, project: basename(projectDir), branch: null });
  for (const [path, text] of newFiles) {
    // Keeps the prompt, which people adapt to their project.
    if (path !== paths.prompt || readText(path) === null) writeAtomic(path, text, { mode: 0o644, root });
  }
  const message = `chore: archive the ralph loop ${basename(folder)}`;
  return { folder, uncommitted: await commitPaths(projectDir, [paths.root, folder], message) };
}

function archiveName(label: string): string {
  const name = label
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}._-]+/gu, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, 80);
  return name || 'loop';
}

/** Reads a task list that need not be valid: it can be archived without mending it first. */
function looseTasks(paths: PrdPaths) {
  const file = readTasksFile(paths);
  if (!file.ok || !isObject(file.value)) return null;
  const { project, branchName, userStories } = file.value;
  const stories = (Array.isArray(userStories) ? userStories : []).filter(isObject);
  return {
    project: typeof project === 'string' ? project : '',
    branchName: typeof branchName === 'string' && branchName.trim() !== '' ? branchName : null,
    done: stories.filter(({ passes }) => passes === true).length,
    total: stories.length,
    stories: validTasks(file)?.tasks.userStories ?? [],
  };
}

function summary(name: string, range: string, tasks: ReturnType<typeof looseTasks>): string {
  return [
    `# ${tasks?.project || name}`,
    '',
    ...(tasks?.branchName ? [`- Branch: ${oneLine(tasks.branchName)}`] : []),
    `- Date range: ${range}`,
    tasks === null
      ? '- The task list could not be read.'
      : `- Stories completed: ${tasks.done} of ${tasks.total}`,
    ...reviewLines(tasks?.stories ?? []),
    '',
  ].join('\n');
}

function reviewLines(stories: readonly Story[]): string[] {
  if (stories.length === 0) return [];
  return [
    `- Reviews: ${stories.reduce((sum, { reviewCount }) => sum + reviewCount, 0)}`,
    '',
    '| Story | Title | State | Reviews |',
    '|---|---|---|---|',
    ...stories.map((story) => {
      const title = oneLine(story.title).replaceAll('|', '\\|');
      return `| ${story.id} | ${title} | ${stateOf(story)} | ${story.reviewCount} |`;
    }),
  ];
}

/** Returns the days from the start that the progress log names to today. */
function dateRange(progress: string | null, today: string): string {
  const start = /^Started:\s*(.+)$/m.exec(progress ?? '')?.[1]?.trim();
  return start ? `${start} to ${today}` : `until ${today}`;
}

/** Returns the folder as a person would type it. */
export function shownPath(cwd: string, path: string): string {
  return relative(cwd, path) || '.';
}
