import { dirname, join } from 'node:path';
import type { ObeyedPath, StandIn } from '../agents/agent.ts';
import { type AgentName, agents } from '../agents/registry.ts';
import { RalphError } from '../core/error.ts';
import { lstatOf } from '../os/files/files.ts';
import { isWithin } from '../os/files/real-path.ts';
import { findRepository, type GitFolders } from '../os/git/git.ts';
import type { Place } from './place.ts';

export type Protected = {
  readonly path: string;
  /** Placeholder if there is nothing at the path. */
  readonly standIn?: StandIn;
};

export type Protection = {
  /** Each is a mount of its own, so that neither it nor a folder above it can be renamed. */
  readonly writable: readonly string[];
  readonly readOnly: readonly Protected[];
};

/** Folders that ralph, editors and other agents obey at their start; git does not see an empty placeholder. */
const obeyed = [
  ...['.ralph', '.agents', '.cursor', '.kiro', '.factory', '.windsurf', '.roo', '.kilocode', '.continue'],
  ...['.junie', '.augment', '.trae', '.vscode', '.idea', '.zed', '.husky'],
];
/** Files that only people make. */
const obeyedIfThere = ['.ralph-active', '.envrc'];

/** The settings of Mercurial, and what says that they are elsewhere. */
const obeyedByMercurial = ['hgrc', 'hgrc-not-shared', 'requires'];

/** Finds the files that decide what runs outside of the sandbox, in a working copy whose top folder is `root`. */
export function protectProject(
  { root, cwd }: Pick<Place, 'root' | 'cwd'>,
  git: GitFolders | null,
  agent: AgentName,
  included: readonly string[] = [],
): Protection {
  const readOnly: Protected[] = [...new Set([root, cwd])].flatMap((folder) => [
    ...obeyed.map((name) => empty(join(folder, name))),
    ...Object.values(agents).flatMap(({ name, sandbox }) =>
      sandbox.obeys.map((obeyedPath) => protectObeyed(folder, obeyedPath, name === agent)),
    ),
    ...obeyedIfThere.map((name) => ({ path: join(folder, name) })),
    ...(lstatOf(join(folder, '.hg')) ? protectMercurial(join(folder, '.hg')) : []),
    // A repository that is made or repaired here would be obeyed by the next git that runs here.
    ...(folder === root && git !== null && findRepository(root) === root
      ? []
      : [empty(join(folder, '.git'))]),
  ]);
  const repository = git === null ? { writable: [], readOnly: [] } : protectGit(root, git);
  const writable = new Set([root, ...repository.writable]);
  const within = included
    .filter((path) => [...writable].some((folder) => isWithin(path, folder)))
    .map(protectFile);
  const all = [...readOnly, ...repository.readOnly, ...within].filter(
    ({ path, standIn }) => standIn || lstatOf(path),
  );
  for (const { path } of all) {
    refuseLink(path);
    const top = [...writable].find((folder) => isWithin(path, folder));
    for (let at = dirname(path); top && at !== top && isWithin(at, top); at = dirname(at)) {
      refuseLink(at);
      writable.add(at);
    }
  }
  return { writable: [...writable].sort(), readOnly: all };
}

/** Commits, branches and the index can be written; hooks, settings and where git looks for them cannot. */
function protectGit(root: string, { gitDir, commonDir, hooks, submodules }: GitFolders): Protection {
  const pointer = join(root, '.git');
  const linked = gitDir !== commonDir;
  // Of the main working copy; of the worktrees, the own one is writable again above `worktrees`.
  const others = linked ? ['HEAD', 'index'].map((name) => ({ path: join(commonDir, name) })) : [];
  return {
    writable: [commonDir, gitDir, ...submodules.map(({ gitDir: folder }) => folder)],
    readOnly: [
      ...(linked || gitDir !== pointer ? [{ path: pointer }] : []),
      ...others,
      empty(join(commonDir, 'worktrees')),
      // A submodule that is added later would obey a repository that is there already.
      ...[...new Set([commonDir, gitDir])].map((folder) => empty(join(folder, 'modules'))),
      ...settingsOf(commonDir),
      ...(linked ? settingsOf(gitDir) : []),
      ...(isWithin(hooks, root) || isWithin(hooks, commonDir) ? [empty(hooks)] : []),
      ...submodules.flatMap((each) => [...settingsOf(each.gitDir), { path: each.pointer }]),
    ],
  };
}

function protectMercurial(folder: string): Protected[] {
  return [
    ...obeyedByMercurial.map((name) => ({ path: join(folder, name), standIn: { content: '' } })),
    { path: join(folder, 'sharedpath') },
  ];
}

function settingsOf(folder: string): Protected[] {
  // A file of that name moves all settings elsewhere; this placeholder moves them to where they are.
  const common = { path: join(folder, 'commondir'), standIn: { content: '.\n' } };
  return [
    { path: join(folder, 'config') },
    empty(join(folder, 'hooks')),
    common,
    // Git obeys it as soon as somebody has a sparse checkout.
    { path: join(folder, 'config.worktree'), standIn: { content: '' } },
    { path: join(folder, 'gitdir') },
  ];
}

function protectObeyed(folder: string, obeyedPath: ObeyedPath, isOwn: boolean): Protected {
  if (typeof obeyedPath === 'string') return empty(join(folder, obeyedPath));
  const path = join(folder, obeyedPath.path);
  return isOwn ? { path, standIn: obeyedPath.standIn } : empty(path);
}

function empty(path: string): Protected {
  return { path, standIn: { content: null } };
}

/** Protects a file; if its folder is missing, too, an empty placeholder stands in for that. */
function protectFile(path: string): Protected {
  if (lstatOf(dirname(path))) return { path, standIn: { content: '' } };
  let missing = dirname(path);
  while (!lstatOf(dirname(missing))) missing = dirname(missing);
  return { path: missing, standIn: { content: null } };
}

/** Fails for a link, which can be replaced whatever is mounted at its end. */
export function refuseLink(path: string): void {
  if (!lstatOf(path)?.isSymbolicLink()) return;
  throw new RalphError('sandbox-link', `${path} is a symbolic link, which a sandbox cannot keep as it is`, {
    remedy: 'put the folder itself in its place, or go without: --no-sandbox',
  });
}
