import { homedir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { changeOf, type HostInstaller, type InstallPlace } from '../../hook/hook-installer.ts';

/** Writes a file into OpenCode's plugin folder that exports the plugin of the package. */
export const opencodeInstaller: HostInstaller = {
  install(place) {
    const text = pluginText(place);
    const change = changeOf(pluginFile(place), () => text);
    if (change.before !== null && !isOurs(change.before)) {
      return { changes: [], notes: [`${change.path} is there already and stays as it is.`] };
    }
    return { changes: [change], notes: ['Start OpenCode again, then: /ralph-loop "task"'] };
  },
  uninstall: (place) => ({
    changes: [changeOf(pluginFile(place), (before) => (before !== null && isOurs(before) ? null : before))],
    notes: [],
  }),
};

function pluginText({ root }: InstallPlace): string {
  const url = pathToFileURL(join(root, 'dist', 'lib', 'opencode.js')).href;
  return `// Written by \`ralph install opencode\`.\nexport { RalphLoop } from '${url.replaceAll("'", '%27')}';\n`;
}

function isOurs(text: string): boolean {
  return text.includes('export { RalphLoop } from ');
}

function pluginFile({ scope, cwd, env }: InstallPlace): string {
  if (scope === 'project') return join(cwd, '.opencode', 'plugins', 'ralph-loop.js');
  const config = env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config');
  return join(config, 'opencode', 'plugins', 'ralph-loop.js');
}
