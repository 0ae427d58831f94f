import { readArgs } from '../argv.ts';
import { NETWORK, shown, UNKNOWN } from '../marks.ts';
import type { Call, Handler, Handlers } from '../model.ts';
import { isProjectFile, zoneOf } from '../zones.ts';
import { always, askPerson, asksHelp, named, when } from './rules.ts';

const docker: Handler = (call) => {
  const args = readArgs(call.words, {
    letters: 'Hcl',
    long: ['host', 'context', 'config', 'log-level'],
    stop: true,
  });
  // `docker container rm` is `docker rm`.
  const words =
    args.rest[0] === 'container' && /^(rm|stop|kill|exec)$/.test(args.rest[1] ?? '')
      ? args.rest.slice(1)
      : args.rest;
  const [action = '', ...rest] = words;
  const [sub = '', ...more] = rest;
  const away = args.value('H', 'host') ?? call.env.get('DOCKER_HOST') ?? '';
  if (/^(rm|rmi|stop|kill|system|volume|container)$/.test(action) && /^(tcp|ssh):/.test(away))
    call.act('deny', 'container', 'takes containers of another machine down', askPerson);
  if (action === 'exec' && rest.includes('--privileged'))
    call.act('deny', 'container', 'gives a container all rights on the machine', askPerson);
  const host = (what: string) =>
    call.act('deny', 'container', what, 'Mount only the project, and give no extra rights.');
  if (action === 'run' || action === 'create' || (action === 'container' && /^(run|create)$/.test(sub)))
    return container(call, action === 'container' ? more : rest);
  if (action === 'exec') return inContainer(call, rest);
  if ((action === 'system' && sub === 'reset') || (action === 'swarm' && sub === 'leave'))
    call.act('deny', 'container', 'takes containers of other projects down', askPerson);
  if (action === 'build' || action === 'buildx') {
    if (rest.some((word) => /^--push$|type=registry|push=true/.test(word)))
      call.act('deny', 'supply-chain', 'publishes an image', askPerson);
    return UNKNOWN;
  }
  if (action === 'compose') return compose(call, rest);
  const removes = /^(rm|prune|remove)$/.test(sub);
  if (rest.includes('--help')) return UNKNOWN;
  if (
    /^(system|volume|image|network|container|builder)$/.test(action) &&
    sub === 'prune' &&
    (action === 'system' || action === 'volume' || more.some((word) => /^(-\w*a|--all|--volumes)/.test(word)))
  )
    call.act(
      'deny',
      'container',
      'deletes containers, images and data of other projects',
      'Remove what you made, by its name.',
    );
  if (action === 'volume' && removes)
    call.act('deny', 'container', 'deletes the data of containers', 'Keep volumes.');
  const every = rest.some((word) => word.includes(UNKNOWN) || /^(-\w*a\w*|--all)$/.test(word));
  if (/^(rm|rmi|stop|kill)$/.test(action) && every)
    call.act('deny', 'container', `${action}s every container or image`, 'Name the one that you made.');
  // By a filter they are some, and their maker's.
  if (action === 'ps' && rest.some((word) => /^(-f|--filter)/.test(word))) return 'filtered-container\n';
  if (/^(push|login)$/.test(action))
    call.act(action === 'push' ? 'deny' : 'warn', 'supply-chain', 'publishes an image', askPerson);
  if (action === 'cp')
    for (const path of rest) if (!path.includes(':')) call.file('read', path, { recursive: true });
  if (/^(swarm|node|service|stack|secret|config)$/.test(action) && (removes || /=0$/.test(rest.at(-1) ?? '')))
    host('changes the cluster');
  return UNKNOWN;
};

const client = /^\s*(psql|mysql\w*|mariadb|dropdb|redis-cli|mongosh?|cqlsh)\b/;

/** What happens to files in a container is not ours to judge, but its data is data. */
function inContainer(call: Call, words: readonly string[]): string {
  const at = words.findIndex((word) => client.test(word) && !/\s/.test(word));
  if (at !== -1) return call.run(words.slice(at));
  const removes = words.indexOf('rm');
  if (
    removes !== -1 &&
    words
      .slice(removes)
      .some((word) => /^\/var\/lib\/(postgresql|mysql|mongo|redis|clickhouse|elasticsearch)/.test(word))
  )
    return call.act('deny', 'database', 'deletes the files of a database', 'Work on a database of your own.');
  const [code = ''] = words.filter((word, i) => words[i - 1] === '-c' && client.test(word));
  return code === '' ? UNKNOWN : call.script(code);
}

function container(call: Call, words: readonly string[]): string {
  const { context } = call.shell.world;
  const long = [
    'volume',
    'mount',
    'env',
    'env-file',
    'name',
    'workdir',
    'user',
    'publish',
    'network',
    'net',
    'entrypoint',
    'pid',
    'ipc',
    'cap-add',
    'device',
    'security-opt',
    'label',
    'hostname',
    'memory',
    'cpus',
    'platform',
    'add-host',
    'userns',
    'uts',
    'volumes-from',
    'tmpfs',
    'restart',
    'shm-size',
    'ulimit',
    'group-add',
    'cgroupns',
    'gpus',
    'expose',
  ];
  const args = readArgs(words, { letters: 'vewpuhlmac', long, stop: true });
  const deny = (what: string) =>
    call.act('deny', 'container', what, 'Mount only the project, and give no extra rights.');
  if (args.has('privileged')) deny('gives a container all rights on the machine');
  if (args.all('pid', 'ipc', 'uts', 'userns', 'cgroupns').includes('host'))
    deny('lets a container into the processes of the machine');
  if (
    args
      .all('cap-add')
      .some((name) => /^(CAP_)?(ALL|SYS_ADMIN|SYS_PTRACE|SYS_MODULE|DAC_READ_SEARCH|NET_ADMIN)$/i.test(name))
  )
    deny('gives a container more rights');
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
    const zone = zoneOf(path, context);
    const own =
      isProjectFile(path, context) || zone === 'temporary' || zone === 'cache' || zone === 'unknown';
    if (!own || path.endsWith('docker.sock')) deny(`gives a container ${shown(path)} of the machine`);
  }
  return NETWORK;
}

function compose(call: Call, words: readonly string[]): string {
  const [action = '', ...rest] = readArgs(words, {
    letters: 'fp',
    long: ['file', 'project-name', 'profile', 'env-file', 'project-directory'],
    stop: true,
  }).rest;
  const args = readArgs(rest);
  if (asksHelp(call)) return UNKNOWN;
  if (action === 'down' && args.has('v', 'volumes'))
    call.act(
      'deny',
      'container',
      'deletes the data of the containers',
      'Use docker compose down without -v.',
    );
  if (action === 'rm' && args.has('v'))
    call.act('deny', 'container', 'deletes the data of the containers', 'Leave -v out.');
  if (action === 'push') call.act('deny', 'supply-chain', 'publishes images', askPerson);
  if (action === 'ps') return 'own-container\n';
  if (action === 'exec' || action === 'run') return inContainer(call, words);
  return UNKNOWN;
}

/** Containers and their engines. */
export const containers: Handlers = {
  docker,
  podman: docker,
  nerdctl: docker,
  ...named(
    'lxc incus',
    when(
      /^(delete|stop .*--all)\b|security\.privileged=true|\bsource=\/(\s|$)/,
      'container',
      'deletes a container or opens the machine to it',
      askPerson,
    ),
  ),
  ...named(
    'skopeo crane oras buildah ko',
    when(
      /^(push|publish|delete|rmi?\b.*(-a|--all))\b|^copy\b.*\sdocker:\/\/\S+$/,
      'supply-chain',
      'publishes or deletes an image',
      askPerson,
    ),
  ),
  ...named('lxc-destroy lxc-stop', always('container', 'takes a container down')),
  'systemd-nspawn': when(
    /(^|\s)(-D|--directory|--bind)[ =]?\/(\s|$)/,
    'container',
    'gives a container the machine',
  ),
  ctr: when(
    /\b(rm|delete|remove)\b|^(?=.*\brun\b).*--privileged\b/,
    'container',
    'deletes containers or gives them all rights on the machine',
    askPerson,
  ),
  crictl: when(/^(rm|rmi|rmp)\b/, 'container', 'deletes containers', askPerson),
  'k3s-uninstall.sh': always('container', 'deletes the cluster'),
  'docker-compose': (call) => compose(call, call.words),
  'podman-compose': (call) => compose(call, call.words),
};
