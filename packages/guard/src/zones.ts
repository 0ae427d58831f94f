import { landmarksOf } from './landmarks.ts';
import { ANY, hasGlob, STAR, segmentMatches } from './marks.ts';
import type { GuardContext } from './model.ts';
import { isInside, type Zone } from './paths.ts';

/** Classifies a path; `wide` includes everything below it, as for a recursive delete. */
export function zoneOf(path: string, context: GuardContext, wide = false): Zone {
  if (!path.startsWith('/')) return 'unknown';
  const vague = hasGlob(path);
  if (!vague && !wide) return plainZone(path, context);
  if (path === '/') return 'system';
  if (ownCode.test(path)) return 'loop';
  const { places, around } = landmarksOf(context);
  if (!vague) return around.get(path) ?? plainZone(path, context);
  const parts = path.split('/');
  const reached = places.find(
    ({ names }) => (wide || parts.length === names.length) && mayReach(parts, names),
  );
  if (reached) return reached.zone;
  return plainZone(path.replaceAll(STAR, 'x').replaceAll(ANY, 'x'), context);
}

function mayReach(parts: readonly string[], names: readonly string[]): boolean {
  if (parts.length > names.length) return false;
  return parts.every((part, i) => part === names[i] || segmentMatches(part, names[i] ?? ''));
}

const ownCode = /\/node_modules\/ralphkit(\/|$)/;
const sinks = /^\/dev\/(null|stdout|stderr|stdin|tty|zero|full|u?random|ptmx|fd(\/.*)?|pts\/.*|console)$/;
const startup =
  /^(\.(bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|zlogout|inputrc|xinitrc|xprofile|xsession|tmux\.conf|vimrc|gitconfig|selected_editor)|\.config\/(fish|autostart|systemd|environment\.d|git|nvim|zsh|profile)\b.*|\.local\/(bin|share\/(systemd|applications|dbus-1))\b.*|bin\/.*|\.vim\b.*|Library\/Launch(Agents|Daemons)\b.*|\.pam_environment|\.ssh\/(authorized_keys2?|rc|config|environment)|\.git-templates?\b.*)$/;
const credentials =
  /^(\.ssh|\.gnupg|\.aws|\.azure|\.config\/(gcloud|gh|op|hub|containers\/auth\.json|rclone|doctl|ngrok|heroku|stripe|netlify|glab-cli|sops|configstore|solana|fly|helm\/registry|\.wrangler)|\.(ngrok2|oci|databrickscfg|fly|sentryclirc|snowsql|subversion\/auth|Xauthority|wrangler|kaggle|thunderbird|viminfo)|\.kube|\.docker|\.netrc|_netrc|\.npmrc|\.yarnrc(\.yml)?|\.pypirc|\.pgpass|\.my\.cnf|\.git-credentials|\.gem\/credentials|\.cargo\/credentials(\.toml)?|\.claude\/\.credentials\.json|\.codex\/auth\.json|\.gemini\/(oauth_creds|google_accounts)\.json|\.password-store|\.vault-token|\.terraform\.d\/credentials.*|\.terraformrc|\.heroku|\.local\/share\/(keyrings|opencode\/auth\.json)|\.mozilla|\.config\/(google-chrome|chromium|BraveSoftware|Code\/User\/globalStorage)|Library\/(Keychains|Cookies|Application Support\/Google)|\.histfile|\.m2\/settings\.xml|\.gradle\/gradle\.properties|\.s3cfg|\.boto|\.dropbox|\.bitcoin|\.ethereum|\.electrum)(\/.*)?$/;

/** Files in a home that hold logins or typed commands, by name. */
const keptSecret =
  /^\.(.*[/.])?((auth|credentials?|(access_?)?tokens?|api_?keys?|keys?|secrets?|vault_pass\w*)(\.(json|toml|ya?ml|ini|txt|db|conf))?|\w+_history)$/;
const publicKey = /\.pub$|\/\.ssh\/(known_hosts|config|authorized_keys)$/;
const secretName =
  /^(\.env(\.(?!example$|sample$|template$|dist$|test$|defaults?$|schema$)[\w.-]+)?|\.env~|\.envrc|\.dev\.vars|\.vault[-_](token|pass\w*)|master\.key|.*firebase-adminsdk.*\.json|id_(rsa|dsa|ecdsa|ed25519)|.*\.(p12|pfx|keystore|jks|kdbx|ppk)|.*private.*\.pem|(service-?account|credentials|client_secret).*\.json|\.git-credentials|\.pgpass|\.netrc|\.htpasswd)$/i;

const systemSecrets =
  /^\/(etc\/(g?shadow-?|sudoers|sudoers\.d(\/.*)?|ssh\/ssh_host_\w+_key|ssl\/private(\/.*)?|kubernetes\/.*)|proc\/[^/]+\/(environ|mem)|dev\/k?mem|etc\/rancher\/.*\.yaml|root\/\.((ssh|aws|kube|docker|gnupg)(\/.*)?|\w+_history|netrc|git-credentials|npmrc|pgpass|my\.cnf)|run\/secrets(\/.*)?|var\/run\/secrets(\/.*)?)$/;

const ofSystem =
  /^\/(bin|boot|etc|lib\w*|opt|root|run|sbin|srv|usr|var|System|Library|Applications|Windows)?(\/|$)/;

function plainZone(path: string, context: GuardContext): Zone {
  const { home, projectRoot } = context;
  if (path.startsWith('/dev/')) {
    if (sinks.test(path)) return 'sink';
    return path.startsWith('/dev/shm/') ? 'temporary' : 'device';
  }
  if (isInside(path, '/proc') || isInside(path, '/sys')) return 'kernel';
  if (landmarksOf(context).loopFolders.some((folder) => isInside(path, folder))) return 'loop';
  if (ownCode.test(path)) return 'loop';
  const own = isInside(path, projectRoot);
  const zone = own ? projectZone(path.slice(projectRoot.length).replace(/^\//, '')) : 'outside';
  if (zone !== 'outside' && (zone !== 'project' || !holdsHome(context))) return zone;
  if (isInside(path, home)) {
    const name = path.slice(home.length + 1);
    const atHome = homeZone(name);
    return own && home === projectRoot && atHome === 'home' && !ofUser.test(name) ? 'project' : atHome;
  }
  const [, ofOthers] = /^\/(?:home|Users)\/[^/]+\/?(.*)$/.exec(path) ?? [];
  if (ofOthers !== undefined) return homeZone(ofOthers);
  if (/^\/(tmp|var\/tmp|private\/tmp|private\/var\/folders)$/.test(path) || path === context.env.TMPDIR)
    return 'temporary-root';
  if (isTemporary(path, context)) return 'temporary';
  if (systemSecrets.test(path)) return 'credentials';
  return ofSystem.test(path) ? 'system' : zone;
}

/** True if the working folder is a home or contains one: then not everything there is the project. */
function holdsHome({ home, projectRoot }: GuardContext): boolean {
  return isInside(home, projectRoot);
}

export function isProjectFile(path: string, context: GuardContext): boolean {
  return (
    isInside(path, context.projectRoot) && (!holdsHome(context) || plainZone(path, context) === 'project')
  );
}

/** Matches the user's own entries of a home that is the working folder: hidden ones and the usual folders. */
const ofUser =
  /^(\.(?!env|gitignore|github)|(Desktop|Documents|Downloads|Library|Movies|Music|Photos|Pictures|Public|Templates|Videos|go|snap)(\/|$))/;

/** A project that is itself under /tmp has neighbours, which are not its own temporary files; a home there is a home. */
export function isTemporary(path: string, context: GuardContext): boolean {
  const { home, projectRoot } = context;
  if (isInside(path, home)) return false;
  const neighbours = projectRoot.slice(0, projectRoot.lastIndexOf('/'));
  return landmarksOf(context).temporary.some(
    (root) =>
      isInside(path, root) &&
      (neighbours === root || !isInside(neighbours, root) || !isInside(path, neighbours)),
  );
}

const projectAgent =
  /^(.*\/)?(\.claude\/(settings[^/]*\.json|hooks(\/.*)?|\uE000)|\.claude|\.codex(\/.*)?|\.gemini(\/settings\.json|\/hooks\/.*)?|\.mcp\.json|opencode\.jsonc?|\.opencode(\/plugins?(\/.*)?)?|\.cursor\/hooks\.json|\.github\/hooks\/.*)$/i;

function projectZone(name: string): Zone {
  if (name === '') return 'project-root';
  if (!name.startsWith('.') && !name.includes('/.') && !name.includes('opencode.json')) return 'project';
  if (/^(.*\/)?\.ralph(\/|$)|^\.ralph-active$/i.test(name)) return 'loop';
  if (projectAgent.test(name)) return 'agent';
  if (/^(.*\/)?\.git\/(hooks(\/.*)?|config|info\/attributes)$/i.test(name)) return 'hooks';
  if (/^(.*\/)?\.git(\/.*)?$/i.test(name)) return 'git';
  return 'project';
}

const homeCache =
  /^(\.cache|\.npm|\.bun\/install\/cache|\.yarn\/cache|\.pnpm-store|\.local\/share\/pnpm|Library\/Caches|\.cargo\/registry|\.gradle\/caches|go\/pkg)\/./;
const homeAgent =
  /^(\.claude\.json|\.claude(\/(settings[^/]*\.json|hooks(\/.*)?|plugins(\/.*)?|CLAUDE\.md))?|\.codex(\/.*)?|\.gemini(\/settings\.json)?|\.config\/(opencode|amp|ralph)(\/.*)?)$/;

function homeZone(name: string): Zone {
  // What is known of homes is hidden, but for Library, bin, go and _netrc.
  if (!/^[._Lbg]/.test(name)) return 'home';
  if (keptSecret.test(name)) return 'credentials';
  if (homeCache.test(name)) return 'cache';
  if (startup.test(name)) return 'startup';
  if (credentials.test(name)) return 'credentials';
  if (homeAgent.test(name)) return 'agent';
  if (/^\.config\/ralph(\/|$)/.test(name)) return 'loop';
  return 'home';
}

/** True if reading the file would show a secret. A folder counts if all of it is read. */
export function isSecretFile(path: string, context: GuardContext, recursive: boolean): boolean {
  if (!path.startsWith('/')) return false;
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (publicKey.test(path)) return false;
  // Under /tmp a file of this name was made for a test: no secret may be copied there.
  if (secretName.test(name) && !hasGlob(name))
    return !isTemporary(path, context) || isProjectFile(path, context);
  if (isProjectFile(path, context) && !hasGlob(path) && !recursive) return false;
  if (systemSecrets.test(path)) return true;
  const zone = zoneOf(path, context);
  // In a project such a file is mostly made for its tests.
  if (zone === 'credentials' || (zone === 'home' && /\.(pem|key)$/.test(name))) return true;
  return recursive && (/^\/(root|home)$/.test(path) || isInside(context.home, path));
}
