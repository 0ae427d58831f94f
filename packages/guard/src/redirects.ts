import type { Redirection } from 'unbash';
import { expandParts, expandText, expandWord } from './expand.ts';
import { committed, ENDLESS, PRIVATE, secretsIn, show, UNKNOWN } from './marks.ts';
import type { Act, Effect, FileEffect, Input, Shell, World } from './model.ts';
import { foldersAround, isInside, resolvePath } from './paths.ts';
import { denial, wholeEnvironment } from './private.ts';
import { isSecretFile } from './zones.ts';

type Target = { readonly path: string; readonly append: boolean };

/** Opens files as a shell does before the command starts, and gives the output to where it goes. */
export function withRedirects(
  redirects: readonly Redirection[],
  shell: Shell,
  run: (input: Input | undefined) => string,
): string {
  if (redirects.length === 0) return run(undefined);
  const { world } = shell;
  let input: Input | undefined;
  const targets: Target[] = [];
  const step = world.steps.at(-1);
  const note = (effect: Effect) => world.note(effect, step);
  for (const redirect of redirects) {
    const word = redirect.type === 'Redirect' ? redirect.target : undefined;
    const name = word ? expandWord(word, shell).join(' ') : '';
    const text = inputOf(redirect, name, shell, note);
    if (text === undefined) {
      const target = targetOf(redirect, name, shell, note);
      if (target) targets.push(target);
      continue;
    }
    input = { text };
    // Input on a descriptor above 2 can be read later, as /dev/fd/3.
    const { descriptor } = redirect;
    if (descriptor?.type === 'FileDescriptor' && descriptor.value > 2)
      world.files.set(`/dev/fd/${descriptor.value}`, text);
  }
  const output = run(input);
  if (targets.length === 0) return output;
  for (const { path, append } of targets.filter((target) => target.path !== '/dev/null')) {
    world.files.set(path, (append ? (world.files.get(path) ?? '') : '') + output);
    const act = judgeContent(output, path, world);
    if (act !== null) note(act);
  }
  return '';
}

type Note = (effect: Effect) => void;

/** Returns the input that a redirection provides; undefined if none. */
function inputOf(redirect: Redirection, name: string, shell: Shell, note: Note): string | undefined {
  if (redirect.type === 'HereDoc')
    return redirect.body.parts ? expandParts(redirect.body.parts, shell) : redirect.body.text;
  if (!redirect.target) return undefined;
  if (redirect.type === 'HereString') return `${expandText(redirect.target, shell)}\n`;
  if (/^[<>]&$/.test(redirect.operator) && /^(\d+-?|-)$/.test(name))
    return shell.world.files.get(`/dev/fd/${name}`);
  if (!/^<&?$/.test(redirect.operator) || isConnection(name)) return undefined;
  const path = pathOf(name, shell);
  if (!isLoaded(path, shell)) note(fileEffect('read', path));
  return contentOf(path, shell);
}

function targetOf(redirect: Redirection, name: string, shell: Shell, note: Note): Target | undefined {
  if (redirect.type !== 'Redirect' || !redirect.target) return undefined;
  const { operator, descriptor } = redirect;
  if (/^[<>]&$/.test(operator) && /^(\d+-?|-)$/.test(name)) return undefined;
  // A check whether a local port answers sends nothing out.
  if (operator === '<' && /^\/dev\/tcp\/(localhost|127\.0\.0\.1)\/\d+$/.test(name)) return undefined;
  if (isConnection(name)) {
    note(denial('remote-shell', `opens a connection to ${show(name.slice(9))}`, 'Use curl.'));
    return undefined;
  }
  const path = pathOf(name, shell);
  const append = operator.endsWith('>>');
  note(fileEffect('write', path, { how: append ? 'append' : 'overwrite' }));
  const fd = descriptor?.type === 'FileDescriptor' ? descriptor.value : 1;
  return fd === 1 && !/^\/dev\/(stdout|stderr|tty|fd\/\d+)$/.test(path) ? { path, append } : undefined;
}

function isConnection(name: string): boolean {
  return /^\/dev\/(tcp|udp)\//.test(name);
}

function pathOf(name: string, { cwd, world }: Shell): string {
  return throughLink('write', name, resolvePath(name, cwd, world), world);
}

/** True if a file is read for its variables, as `source .env` does. */
export function isLoaded(path: string, { loads }: Shell): boolean {
  return loads && /\/\.env(\.[\w.-]+)?$/.test(path);
}

export function judgeContent(output: string, path: string, world: World): Act | null {
  const { context } = world;
  if (output.includes(ENDLESS) && !/^\/dev\/(?!shm\/)/.test(path))
    return denial('exhaustion', `fills ${show(path)} without end`, 'Limit it, as in head -c 1M.');
  if (output.includes(committed(path)))
    return denial(
      'git',
      `throws away uncommitted changes in ${show(path)}`,
      'Commit or stash the work first.',
    );
  if (!isInside(path, context.projectRoot) || isSecretFile(path, context, false)) return null;
  const [secret] = secretsIn(output);
  if (secret !== undefined && !/\/\.(npmrc|yarnrc\.yml)$/.test(path))
    return denial(
      'credentials',
      `writes the secret ${secret} into ${show(path)}`,
      'Let the program read the variable.',
    );
  return output.includes(PRIVATE) ? wholeEnvironment(world, `writes private data into ${show(path)}`) : null;
}

export function fileEffect(
  kind: FileEffect['kind'],
  path: string,
  { recursive = false, how = 'overwrite' }: Partial<FileEffect> = {},
): Effect {
  return { kind, path, recursive, how };
}

/** Follows a link that the command made, except where the link itself is deleted. */
export function throughLink(
  kind: FileEffect['kind'],
  written: string,
  path: string,
  { links }: World,
): string {
  return kind === 'delete' && !written.endsWith('/') ? path : (links.get(path) ?? path);
}

/** Folders of a project that an archive or a clone seldom brings along. */
const usual =
  /^(src|lib|bin|dist|build|scripts?|tools?|tests?|node_modules|packages|apps|\.venv|venv)\/|^(?!(install|setup|bootstrap)(\.sh)?$)[^/]*$/;

export function fetchedWith(path: string, { fetched, context }: World): string | undefined {
  if (fetched.size === 0) return undefined;
  for (const folder of foldersAround(path)) {
    const content = fetched.get(folder);
    if (content === undefined) continue;
    if (isInside(context.projectRoot, folder) && usual.test(path.slice(folder.length + 1))) continue;
    return content;
  }
  return undefined;
}

/** Returns the content of a file that this command wrote; older files are unknown or private. */
export function contentOf(named: string, { world }: Shell): string {
  const path = world.links.get(named) ?? named;
  const own = world.files.get(path) ?? fetchedWith(path, world);
  if (own !== undefined) return own;
  if (path === '/dev/null') return '';
  if (/^\/dev\/(zero|u?random)$/.test(path)) return ENDLESS;
  // A program under another name is still that program.
  if (/^(\/usr)?(\/local)?\/s?bin\/[^/]+$/.test(path)) return `#!${path}\n`;
  return path.startsWith('/') && isSecretFile(path, world.context, false) ? PRIVATE : UNKNOWN;
}
