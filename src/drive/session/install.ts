import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { hooks as codexHooks } from '../../agents/codex/hooks.ts';
import { hooks as geminiHooks } from '../../agents/gemini/hooks.ts';
import { stateFolder } from '../../config/paths.ts';
import { applyChanges, type FileChange } from '../../os/files/file-changes.ts';
import { ensureDir, readJsonAs, writeAtomic } from '../../os/files/files.ts';
import type { Environment } from '../../os/process/program.ts';
import { opencodeInstaller } from '../embed/opencode/install.ts';
import { claudeInstaller } from '../hook/claude-installer.ts';
import {
  type HostInstaller,
  hookInstaller,
  type InstallPlace,
  type InstallPlan,
} from '../hook/hook-installer.ts';

export const hostInstallers: Readonly<Record<string, HostInstaller>> = {
  claude: claudeInstaller,
  codex: hookInstaller(codexHooks),
  gemini: hookInstaller(geminiHooks),
  opencode: opencodeInstaller,
};

/** Plans the changes. Restores a file that is as an installation left it to the byte. */
export function planInstall(installer: HostInstaller, action: 'install' | 'uninstall', place: InstallPlace) {
  const plan = installer[action](place);
  const records = readInstalled(place.env);
  const restore = (change: FileChange): FileChange => {
    const record = records.get(change.path);
    return record?.after === change.before && record.before !== change.before
      ? { ...change, after: record.before }
      : change;
  };
  const changes = action === 'install' ? plan.changes : plan.changes.map(restore);
  return { ...plan, changes: changes.filter(({ before, after }) => before !== after) };
}

/** Makes the changes, and records what the files were. */
export function carryOut({ changes }: InstallPlan, action: 'install' | 'uninstall', { env }: InstallPlace) {
  const records = new Map<string, Installed>(readInstalled(env));
  for (const { path, before, after } of changes) {
    const earlier = records.get(path);
    if (action === 'uninstall') records.delete(path);
    else records.set(path, { before: earlier?.after === before ? earlier.before : before, after });
  }
  // A record without its change does no harm, a change without its record could not be undone to the byte.
  if (action === 'install') writeInstalled(env, records);
  applyChanges(changes);
  if (action === 'uninstall') writeInstalled(env, records);
}

/** Content of a file before and after an installation, to undo it to the byte. */
type Installed = Pick<FileChange, 'before' | 'after'>;

const content = v.nullable(v.string());
const installedSchema = v.record(v.string(), v.object({ before: content, after: content }));

function readInstalled(env: Environment): ReadonlyMap<string, Installed> {
  return new Map(Object.entries(readJsonAs(recordFile(env), installedSchema) ?? {}));
}

function writeInstalled(env: Environment, installed: ReadonlyMap<string, Installed>): void {
  const file = recordFile(env);
  ensureDir(dirname(file));
  writeAtomic(file, `${JSON.stringify(Object.fromEntries(installed), null, 2)}\n`);
}

function recordFile(env: Environment): string {
  return join(stateFolder(env), 'records.json');
}
