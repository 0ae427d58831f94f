import { readArgs, readLeadingArgs } from '../argv.ts';
import type { Call, Handlers } from '../call.ts';
import { NETWORK, show, UNKNOWN } from '../marks.ts';
import { isProjectFile, zoneOf } from '../zones.ts';
import { always, asksHelp, byName, denying, denyLines, type LineRule } from './rules.ts';

const dockerRules: readonly LineRule[] = [
  [/^exec\b.* --privileged\b/, 'container', 'gives a container all rights on the machine'],
  [/^system reset\b|^swarm leave\b/, 'container', 'takes containers of other projects down'],
  [/^buildx?\b.*( --push\b|type=registry|push=true)/, 'supply-chain', 'publishes an image'],
  [
    /^(system|volume) prune\b|^(image|network|container|builder) prune\b.* (-\w*a|--all|--volumes)/,
    'container',
    'deletes containers, images and data of other projects',
    'Remove what you made, by its name.',
  ],
  [/^volume (rm|prune|remove)\b/, 'container', 'deletes the data of containers', 'Keep volumes.'],
  [
    /^(rm|rmi|stop|kill)\b.* (-\w*a\w*|--all)( |$)/,
    'container',
    'takes every container or image away',
    'Name the one that you made.',
  ],
  [/^push\b/, 'supply-chain', 'publishes an image'],
  [
    /^(swarm|node|service|stack|secret|config) (rm|prune|remove)\b|^(swarm|node|service|stack|secret|config)\b.*=0$/,
    'container',
    'changes the cluster',
  ],
];

const client = /^\s*(psql|mysql\w*|mariadb|dropdb|redis-cli|mongosh?|cqlsh)\b/;

const databaseFiles = /^\/var\/lib\/(postgresql|mysql|mongo|redis|clickhouse|elasticsearch)/;

/** Files in a container are not judged, but its databases are. */
function inContainer(call: Call, words: readonly string[]): string {
  const at = words.findIndex((word) => client.test(word) && !/\s/.test(word));
  if (at !== -1) return call.run(words.slice(at));
  const removes = words.includes('rm') ? words.slice(words.indexOf('rm')) : [];
  if (removes.some((word) => databaseFiles.test(word)))
    return call.deny('database', 'deletes the files of a database');
  const [code = ''] = words.filter((word, i) => words[i - 1] === '-c' && client.test(word));
  return code === '' ? UNKNOWN : call.script(code);
}

const runOptions = [
  'volume mount env env-file name workdir user publish network net entrypoint pid ipc cap-add device security-opt',
  'label hostname memory cpus platform add-host userns uts volumes-from tmpfs restart shm-size ulimit group-add',
  'cgroupns gpus expose',
].join(' ');

const wideRight = /^(CAP_)?(ALL|SYS_ADMIN|SYS_PTRACE|SYS_MODULE|DAC_READ_SEARCH|NET_ADMIN)$/i;

function container(call: Call, words: readonly string[]): string {
  const args = readLeadingArgs(words, 'vewpuhlmac', runOptions);
  const deny = (what: string) =>
    call.deny('container', what, 'Mount only the project, and give no extra rights.');
  if (args.has('privileged')) deny('gives a container all rights on the machine');
  if (args.all('pid', 'ipc', 'uts', 'userns', 'cgroupns').includes('host'))
    deny('lets a container into the processes of the machine');
  if (args.all('cap-add').some((name) => wideRight.test(name))) deny('gives a container more rights');
  if (args.all('device').some((path) => /^\/dev\/(sd|nvme|vd|mem|kmem|dm|mapper)/.test(path)))
    deny('gives a container a disk');
  if (args.all('security-opt').some((option) => /unconfined|label[:=]disable/.test(option)))
    deny('takes the protection off a container');
  const sources = [
    ...args.all('v', 'volume').map((mount) => mount.split(':')[0] ?? ''),
    ...args.all('mount').map((mount) => /(?:source|src)=([^,]+)/.exec(mount)?.[1] ?? ''),
  ];
  for (const source of sources) {
    if (!/^[/.~\uE000]/.test(source)) continue;
    const path = call.path(source);
    const zone = zoneOf(path, call.context);
    const own =
      isProjectFile(path, call.context) || zone === 'temporary' || zone === 'cache' || zone === 'unknown';
    if (!own || path.endsWith('docker.sock')) deny(`gives a container ${show(path)} of the machine`);
  }
  return NETWORK;
}

function compose(call: Call, words: readonly string[]): string {
  const long = 'file project-name profile env-file project-directory';
  const [action = '', ...rest] = readLeadingArgs(words, 'fp', long).rest;
  const args = readArgs(rest);
  if (asksHelp(call)) return UNKNOWN;
  if (action === 'down' && args.has('v', 'volumes'))
    call.deny('container', 'deletes the data of the containers', 'Use docker compose down without -v.');
  if (action === 'rm' && args.has('v'))
    call.deny('container', 'deletes the data of the containers', 'Leave -v out.');
  if (action === 'push') call.deny('supply-chain', 'publishes images');
  if (action === 'ps') return 'own-container\n';
  if (action === 'exec' || action === 'run') return inContainer(call, words);
  return UNKNOWN;
}

export const containers: Handlers = byName(
  {
    'docker podman nerdctl': (call) => {
      const args = readLeadingArgs(call.words, 'Hcl', 'host context config log-level');
      // `docker container rm` is `docker rm`.
      const isLong =
        args.rest[0] === 'container' && /^(rm|stop|kill|exec|run|create)$/.test(args.rest[1] ?? '');
      const words = isLong ? args.rest.slice(1) : args.rest;
      const [action = '', ...rest] = words;
      const away = args.value('H', 'host') ?? call.env.get('DOCKER_HOST') ?? '';
      if (/^(rm|rmi|stop|kill|system|volume|container)$/.test(action) && /^(tcp|ssh):/.test(away))
        call.deny('container', 'takes containers of another machine down');
      if (action === 'run' || action === 'create') return container(call, rest);
      if (action === 'compose') return compose(call, rest);
      if (rest.includes('--help')) return UNKNOWN;
      denyLines(call, words, dockerRules);
      if (action === 'exec') return inContainer(call, rest);
      if (/^(rm|rmi|stop|kill)$/.test(action) && rest.some((word) => word.includes(UNKNOWN)))
        call.deny('container', `${action}s every container or image`, 'Name the one that you made.');
      // A filter picks some containers, likely the caller's own.
      if (action === 'ps' && rest.some((word) => /^(-f|--filter)/.test(word))) return 'filtered-container\n';
      if (action === 'login') call.warn('supply-chain', 'publishes an image');
      if (action === 'cp')
        for (const path of rest) if (!path.includes(':')) call.file('read', path, { recursive: true });
    },
    'docker-compose podman-compose': (call) => compose(call, call.words),
  },
  denying('container', 'deletes containers or opens the machine to them', {
    'lxc incus': /^(delete|stop .*--all)\b|security\.privileged=true|\bsource=\/(\s|$)/,
    'lxc-destroy lxc-stop k3s-uninstall.sh': always,
    'systemd-nspawn': /(^|\s)(-D|--directory|--bind)[ =]?\/(\s|$)/,
    ctr: /\b(rm|delete|remove)\b|^(?=.*\brun\b).*--privileged\b/,
    crictl: /^(rm|rmi|rmp)\b/,
  }),
  denying('supply-chain', 'publishes or deletes an image', {
    'skopeo crane oras buildah ko': /^(push|publish|delete|rmi?\b.*(-a|--all))\b|^copy\b.*\sdocker:\/\/\S+$/,
  }),
);
