import { type Installed, readInstalled, writeInstalled } from '../store/installed.ts';
import { applyChanges, type FileChange } from '../system/file-changes.ts';
import { claudeInstaller } from './hosts/claude-code/install.ts';
import { codexInstaller } from './hosts/codex/install.ts';
import { geminiInstaller } from './hosts/gemini/install.ts';
import { opencodeInstaller } from './hosts/opencode/install.ts';
import type { HostInstaller, InstallPlace, InstallPlan } from './installer.ts';

export const hostInstallers: Readonly<Record<string, HostInstaller>> = {
  claude: claudeInstaller,
  codex: codexInstaller,
  gemini: geminiInstaller,
  opencode: opencodeInstaller,
};

/** What would change. A file that is as an installation left it goes back to what it was, to the byte. */
export function planInstall(
  installer: HostInstaller,
  action: 'install' | 'uninstall',
  place: InstallPlace,
): InstallPlan {
  const plan = installer[action](place);
  const installed = readInstalled(place.env);
  const undone = (change: FileChange): FileChange => {
    const record = installed.get(change.path);
    return record?.after === change.before && record.before !== change.before
      ? { ...change, after: record.before }
      : change;
  };
  const changes = action === 'install' ? plan.changes : plan.changes.map(undone);
  return { ...plan, changes: changes.filter(({ before, after }) => before !== after) };
}

/** Makes the changes, and keeps what the files were. */
export function carryOut(
  { changes }: InstallPlan,
  action: 'install' | 'uninstall',
  { env }: InstallPlace,
): void {
  const installed = new Map<string, Installed>(readInstalled(env));
  for (const { path, before, after } of changes) {
    const earlier = installed.get(path);
    if (action === 'uninstall') installed.delete(path);
    else installed.set(path, { before: earlier?.after === before ? earlier.before : before, after });
  }
  // A record without its change does no harm, a change without its record could not be undone to the byte.
  if (action === 'install') writeInstalled(env, installed);
  applyChanges(changes);
  if (action === 'uninstall') writeInstalled(env, installed);
}
