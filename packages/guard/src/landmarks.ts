import { hasGlob, mayMatch } from './marks.ts';
import type { GuardContext } from './model.ts';
import { isInside, type Zone } from './paths.ts';

type Landmark = { readonly place: string; readonly zone: Zone; readonly names: readonly string[] };

type Landmarks = {
  readonly places: readonly Landmark[];
  readonly around: ReadonlyMap<string, Zone>;
  /** The same places and the settings of the loop, by the last part of their path. */
  readonly byName: ReadonlyMap<string, readonly string[]>;
  /** State folders of session loops and of fleets. */
  readonly loopFolders: readonly string[];
  readonly temporary: readonly string[];
};

const landmarkCache = new WeakMap<GuardContext, Landmarks>();

export function landmarksNamed(name: string, folder: string, context: GuardContext): string[] {
  const { byName } = landmarksOf(context);
  const matches = hasGlob(name)
    ? [...byName].flatMap(([placeName, places]) => (mayMatch(name, placeName) ? places : []))
    : (byName.get(name) ?? []);
  return matches.filter((place) => place !== folder && isInside(place, folder));
}

export function hiddenIn(folder: string, context: GuardContext): string[] {
  const { places, around } = landmarksOf(context);
  if (!around.has(folder)) return [];
  const names = places.flatMap(({ place }) =>
    place !== folder && isInside(place, folder) ? [place.slice(folder.length + 1).split('/')[0] ?? ''] : [],
  );
  return [...new Set(names)].filter((name) => name.startsWith('.'));
}

/** The landmarks, and for each folder around one the most important landmark in it. */
export function landmarksOf(context: GuardContext): Landmarks {
  const cacheEntry = landmarkCache.get(context);
  if (cacheEntry) return cacheEntry;
  const places = landmarks(context).map(([place, zone]) => ({ place, zone, names: place.split('/') }));
  const around = new Map<string, Zone>();
  for (const { place, zone } of places) {
    for (let folder = place; folder !== ''; folder = folder.slice(0, folder.lastIndexOf('/')))
      if (!around.has(folder)) around.set(folder, zone);
  }
  const { env, home } = context;
  const folderIn = (name: string) => (env[name]?.startsWith('/') ? env[name].replace(/\/+$/, '') : null);
  const loopFolders = [
    `${folderIn('XDG_STATE_HOME') ?? `${home}/.local/state`}/ralph`,
    ...(folderIn('XDG_CONFIG_HOME') === null ? [] : [`${folderIn('XDG_CONFIG_HOME')}/ralph`]),
    folderIn('SWARM_HOME') ?? `${home}/.swarm`,
  ];
  const settings = ['settings.json', 'guard.json', 'runs/1/journal.ndjson'].map(
    (name) => `${context.projectRoot}/.ralph/${name}`,
  );
  const byName = new Map<string, string[]>();
  for (const place of [...places.map(({ place }) => place), ...settings]) {
    const name = place.slice(place.lastIndexOf('/') + 1);
    byName.set(name, [...(byName.get(name) ?? []), place]);
  }
  const temporary = ['/tmp', '/var/tmp', '/private/tmp', '/private/var/folders'];
  if (env.TMPDIR) temporary.push(env.TMPDIR.replace(/\/+$/, ''));
  const landmarksOfContext = { places, around, byName, loopFolders, temporary };
  landmarkCache.set(context, landmarksOfContext);
  return landmarksOfContext;
}

/** Places that a wide or vague path must not reach by accident, most important first. */
function landmarks({ home, projectRoot }: GuardContext): [string, Zone][] {
  const inside = projectRoot === '/' ? '' : projectRoot;
  return [
    ...secretFiles.map((name): [string, Zone] => [`${home}/${name}`, 'credentials']),
    [home, 'home'],
    ...['.ralph', '.ralph-active'].map((name): [string, Zone] => [`${inside}/${name}`, 'loop']),
    ...agentNames.map((name): [string, Zone] => [`${inside}/${name}`, 'agent']),
    [`${inside}/.git/hooks`, 'hooks'],
    [`${inside}/.git`, 'git'],
    [projectRoot, 'project-root'],
    ...['/etc', '/usr', '/var/lib', '/boot', '/bin', '/lib', '/root', '/opt', '/srv'].map(
      (path): [string, Zone] => [path, 'system'],
    ),
    ['/etc/shadow', 'credentials'],
    [`${inside}/.env`, 'credentials'],
  ];
}

const agentNames = ['settings.json', 'settings.local.json', 'hooks']
  .map((name) => `.claude/${name}`)
  .concat('.codex/config.toml', '.gemini/settings.json', '.mcp.json');

/** Some of what people keep secret at home: enough to see that a pattern reaches for it. */
const secretFiles = [
  ...['rsa', 'ed25519', 'ecdsa', 'dsa'].map((kind) => `.ssh/id_${kind}`),
  ...[
    '.aws/credentials',
    '.gnupg/secring.gpg',
    '.kube/config',
    '.docker/config.json',
    '.netrc',
    '.npmrc',
    '.git-credentials',
    '.config/gh/hosts.yml',
  ],
  ...['.claude/.credentials.json', '.codex/auth.json', '.pypirc', '.pgpass', '.bash_history'],
];
