import { readArgs } from '../argv.ts';
import { shown, UNKNOWN } from '../marks.ts';
import type { Call, Handler, Handlers } from '../model.ts';
import { isInside, zoneOf } from '../paths.ts';
import { when } from './system.ts';

const person = 'Leave it to a person.';
const makeTestDatabase = 'Work on a database of your own whose name says test.';

/** Whether SQL destroys data, its texts and comments aside. */
export function destroysData(sql: string): string | null {
  const bare = sql.replace(/'(?:[^']|'')*'/g, "''").replace(/--[^\n]*|\/\*.*?\*\//gs, ' ');
  for (const statement of bare.split(';')) {
    const [, what] =
      /^\s*(?:BEGIN\s+)?(DROP\s+(?:TABLE|DATABASE|SCHEMA|KEYSPACE|COLLECTION|USER|ROLE|VIEW|INDEX|TABLESPACE|OWNED)|TRUNCATE|ALTER\s+TABLE\s+.*\bDROP\s+COLUMN)\b/is.exec(
        statement,
      ) ?? [];
    if (what) return what.replace(/\s+/g, ' ').toUpperCase();
    if (/^\s*DELETE\s+FROM\s+\S+\s*$/i.test(statement)) return 'DELETE without WHERE';
    if (/^\s*DELETE\s+FROM\b.*\bWHERE\s+(1\s*=\s*1|true)\s*$/is.test(statement)) return 'DELETE of every row';
    if (/^\s*UPDATE\s+\S+\s+SET\b(?!.*\bWHERE\b)/is.test(statement)) return 'UPDATE without WHERE';
  }
  const [, mongo] =
    /\b(dropDatabase|dropCollection|deleteMany\(\s*\{\s*\}|\.drop\(\s*\)|\.remove\(\s*\{\s*\})/.exec(bare) ??
    [];
  return mongo ?? null;
}

const isTest = (name: string) => /test|tmp|temp|scratch|:memory:|sandbox/i.test(name);

const sql: Handler = (call) => {
  const args = readArgs(call.words, {
    letters: 'cdfhUpeEPuqQDs',
    long: [
      'command',
      'dbname',
      'file',
      'host',
      'port',
      'username',
      'execute',
      'eval',
      'query',
      'database',
      'user',
      'password',
      'format',
    ],
  });
  const isLite = call.name.startsWith('sqlite') || call.name === 'duckdb';
  const [first = '', ...more] = args.rest;
  if (isLite && first !== '') call.file('read', first);
  const statements = [
    ...args.all('c', 'command', 'e', 'execute', 'eval', 'E', 'q', 'query', 'Q'),
    ...(isLite ? more : []),
    ...(call.stdin === null ? [] : [call.stdin]),
  ];
  for (const file of args.all('f', 'file')) if (file !== '-') statements.push(call.content(file));
  const database = [first, ...args.all('d', 'dbname', 'D', 'database')].join(' ');
  for (const text of statements) {
    for (const line of text.split('\n')) {
      const [, command] = /^\s*(?:\\!|\.shell|\.system|system)\s+(.+)$/.exec(line) ?? [];
      if (command) call.script(command);
      const [, target] = /^\s*\.(?:output|once|backup|dump)\s+(\S+)/.exec(line) ?? [];
      if (target) call.file('write', target);
    }
    const what = destroysData(text);
    const temporary =
      isTest(database) || (isLite && zoneOf(call.path(first), call.shell.world.context) === 'temporary');
    if (what)
      call.act(
        temporary ? 'warn' : 'deny',
        'database',
        `${what} in ${shown(database) || 'the database'}`,
        makeTestDatabase,
      );
  }
  return UNKNOWN;
};

const redis: Handler = (call) => {
  const { rest } = readArgs(call.words, { letters: 'hpanu' });
  const [command = ''] = rest;
  if (
    /^(flushall|flushdb|shutdown|debug|swapdb)$/i.test(command) ||
    /^\s*(flushall|flushdb)/im.test(call.stdin ?? '')
  )
    call.act(
      'deny',
      'database',
      `${command.toUpperCase() || 'FLUSHALL'} of the whole store`,
      makeTestDatabase,
    );
  if (/^config$/i.test(command) && /^set$/i.test(rest[1] ?? ''))
    call.act('deny', 'database', 'changes the server', person);
  return UNKNOWN;
};

const dropDatabase: Handler = (call) => {
  const name = readArgs(call.words, { letters: 'hpUW' }).rest.at(-1) ?? '';
  if (!isTest(name)) call.act('deny', 'database', `drops the database ${shown(name)}`, makeTestDatabase);
  return '';
};

/** Tools that manage a schema; what they drop is the database of the project, unless it is the one for tests. */
function migrations(pattern: RegExp): Handler {
  return (call) => {
    const line = call.words.map(shown).join(' ');
    const test = /\b(test|testing)\b/.test(
      `${line} ${call.env.get('RAILS_ENV') ?? ''} ${call.env.get('NODE_ENV') ?? ''} ${call.env.get('APP_ENV') ?? ''} ${call.env.get('MIX_ENV') ?? ''}`,
    );
    if (pattern.test(line))
      call.act(test ? 'warn' : 'deny', 'database', 'drops or resets the database', makeTestDatabase);
    return UNKNOWN;
  };
}

const docker: Handler = (call) => {
  const args = readArgs(call.words, {
    letters: 'Hcl',
    long: ['host', 'context', 'config', 'log-level'],
    stop: true,
  });
  const [action = '', ...rest] = args.rest;
  const [sub = '', ...more] = rest;
  const host = (what: string) =>
    call.act('deny', 'container', what, 'Mount only the project, and give no extra rights.');
  if (action === 'run' || action === 'create' || (action === 'container' && /^(run|create)$/.test(sub)))
    return container(call, action === 'container' ? more : rest);
  if (action === 'exec') return inContainer(call, rest);
  if ((action === 'system' && sub === 'reset') || (action === 'swarm' && sub === 'leave'))
    call.act('deny', 'container', 'takes containers of other projects down', person);
  if (action === 'build' || action === 'buildx') return UNKNOWN;
  if (action === 'compose') return compose(call, rest);
  const removes = /^(rm|prune|remove)$/.test(sub);
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
  if (/^(rm|rmi|stop|kill)$/.test(action) && rest.some((word) => word.includes(UNKNOWN)))
    call.act('deny', 'container', `${action}s every container or image`, 'Name the one that you made.');
  if (/^(push|login)$/.test(action))
    call.act(action === 'push' ? 'deny' : 'warn', 'supply-chain', 'publishes an image', person);
  if (action === 'cp')
    for (const path of rest) if (!path.includes(':')) call.file('read', path, { recursive: true });
  if (/^(swarm|node|service|stack|secret|config)$/.test(action) && removes) host('changes the cluster');
  return UNKNOWN;
};

/** What happens to files in a container is not ours to judge, but its data is data. */
function inContainer(call: Call, words: readonly string[]): string {
  const at = words.findIndex((word) =>
    /^(psql|mysql\w*|mariadb|dropdb|redis-cli|mongosh?|cqlsh)$/.test(word),
  );
  return at === -1 ? UNKNOWN : call.run(words.slice(at));
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
      isInside(path, context.projectRoot) || zone === 'temporary' || zone === 'cache' || zone === 'unknown';
    if (!own || path.endsWith('docker.sock')) deny(`gives a container ${shown(path)} of the machine`);
  }
  return UNKNOWN;
}

function compose(call: Call, words: readonly string[]): string {
  const args = readArgs(words, { letters: 'fp', long: ['file', 'project-name', 'profile', 'env-file'] });
  const [action = ''] = args.rest;
  if (action === 'down' && args.has('v', 'volumes'))
    call.act(
      'deny',
      'container',
      'deletes the data of the containers',
      'Use docker compose down without -v.',
    );
  if (action === 'rm' && args.has('v'))
    call.act('deny', 'container', 'deletes the data of the containers', 'Leave -v out.');
  if (action === 'push') call.act('deny', 'supply-chain', 'publishes images', person);
  return UNKNOWN;
}

const awsCall: Handler = (call) => {
  const args = readArgs(call.words, { long: ['profile', 'region', 'output', 'query', 'endpoint-url'] });
  const [service = '', action = '', ...rest] = args.rest;
  const local = /localhost|127\.0\.0\.1/.test(args.value('endpoint-url') ?? '');
  const deny = (what: string) => call.act(local ? 'warn' : 'deny', 'cloud', what, person);
  if (
    /^(delete|terminate|deregister|purge|remove|destroy|detach|revoke|disable|stop|reset|schedule-key-deletion|cancel|release|batch-delete)(-|$)/.test(
      action,
    ) &&
    !args.has('dry-run')
  )
    deny(`${action} in ${service}`);
  if (service === 'iam' && /^(create|attach|put|update|add)-/.test(action))
    deny(`${action}: gives more rights`);
  if (service === 's3') {
    if (/^(rm|rb)$/.test(action) && !args.has('dryrun')) deny('deletes what is stored in S3');
    if (action === 'sync' && args.has('delete')) deny('deletes what is stored in S3');
    const local = rest.filter((path) => !path.startsWith('s3://') && !path.startsWith('-'));
    const remote = rest.some((path) => path.startsWith('s3://'));
    if (/^(cp|mv|sync)$/.test(action) && remote && rest.at(-1)?.startsWith('s3://')) {
      for (const path of local) call.file('read', path, { recursive: true });
      call.act('warn', 'exfiltration', `copies files to ${rest.at(-1)}`, person);
    }
  }
  const line = args.rest.join(' ');
  if (
    /^(sts (get-session-token|assume-role)|configure get aws_(secret|session)|secretsmanager get-secret-value|ssm get-parameters?|ecr get-login-password|configure export-credentials)/.test(
      line,
    )
  )
    call.act('deny', 'credentials', 'prints credentials', 'Let the program that needs them ask for them.');
  return UNKNOWN;
};

const kube: Handler = (call) => {
  const args = readArgs(call.words, {
    letters: 'nflock',
    long: ['namespace', 'context', 'filename', 'kubeconfig', 'selector', 'output'],
  });
  const [action = '', kind = ''] = args.rest;
  if (args.has('dry-run')) return UNKNOWN;
  if (/^(delete|drain|cordon|taint|replace)$/.test(action))
    call.act('deny', 'cloud', `${action} in the cluster`, person);
  if (action === 'scale' && args.value('replicas') === '0')
    call.act('deny', 'cloud', 'stops a deployment', person);
  if (/^(exec|attach|debug)$/.test(action))
    call.act('deny', 'container', 'runs commands in the cluster', person);
  if (
    action === 'get' &&
    /^secrets?(\/|$)/.test(kind) &&
    (args.has('o', 'output') || call.words.some((word) => word.startsWith('-o')))
  )
    call.act('deny', 'credentials', 'prints secrets of the cluster', person);
  if (action === 'config' && kind === 'view' && args.has('raw'))
    call.act('deny', 'credentials', 'prints the credentials of the cluster', person);
  return UNKNOWN;
};

const teardown = (pattern: RegExp) => when(pattern, 'cloud', 'takes down what runs in the cloud', person);
const tokens =
  /\b(auth (print-(access|identity)-token|application-default print-access-token)|account get-access-token|auth:token|tokens? (create|list)|config get.*token)\b/;

function cloud(pattern: RegExp): Handler {
  const down = teardown(pattern);
  const printed = when(tokens, 'credentials', 'prints a token', 'Let the program that needs it ask for it.');
  return (call) => {
    if (call.words.includes('--help') || call.words.includes('--dry-run')) return UNKNOWN;
    down(call);
    return printed(call);
  };
}

const infrastructure: Handler = (call) => {
  const args = readArgs(call.words, { long: ['chdir', 'stack', 'target', 'var', 'var-file'] });
  const [action = '', sub = ''] = args.rest;
  const yes = call.words.some((word) => /^(--?auto-approve|--yes|-y|--skip-preview|--force|-f)$/.test(word));
  if (
    /^(destroy|force-unlock|taint)$/.test(action) ||
    (action === 'state' && /^(rm|push|mv)$/.test(sub)) ||
    (action === 'workspace' && sub === 'delete')
  )
    call.act('deny', 'cloud', `${action} of the infrastructure`, 'Use plan, and let a person apply it.');
  else if (/^(apply|up|deploy)$/.test(action) && (yes || args.has('destroy')))
    call.act(
      'deny',
      'cloud',
      'changes the infrastructure without asking',
      'Use plan, and let a person apply it.',
    );
  return UNKNOWN;
};

const remove =
  /\b(delete|destroy|remove|rm|terminate|purge|apps?:destroy|addons:destroy|pg:reset|db:reset|projects?:delete|site:delete|sites:delete|hosting:disable|firestore:delete|functions:delete|secrets? (set|put|delete)|secret (put|delete))\b/;

export const serviceHandlers: Handlers = {
  psql: sql,
  pgcli: sql,
  mysql: sql,
  mariadb: sql,
  sqlite3: sql,
  sqlite: sql,
  duckdb: sql,
  mongosh: sql,
  mongo: sql,
  cqlsh: sql,
  'clickhouse-client': sql,
  sqlcmd: sql,
  bq: when(/\b(rm|remove)\b/, 'cloud', 'deletes data', person),
  'redis-cli': redis,
  'valkey-cli': redis,
  etcdctl: when(/^del\b.*--(prefix|from-key)/, 'database', 'deletes many keys', makeTestDatabase),
  influx: when(/\bdelete\b/, 'database', 'deletes data', makeTestDatabase),
  dropdb: dropDatabase,
  dropuser: dropDatabase,
  mysqladmin: when(/\bdrop\b|\bshutdown\b/, 'database', 'drops a database', makeTestDatabase),
  pg_restore: when(/(^|\s)(-\w*c|--clean)\b/, 'database', 'drops what is in the database', makeTestDatabase),
  prisma: migrations(
    /^migrate reset\b|^db push\b.*--(force-reset|accept-data-loss)|^migrate (dev|deploy)\b.*--force-reset/,
  ),
  rails: migrations(/\bdb:(drop|reset|purge|truncate_all|schema:load|migrate:reset)\b/),
  rake: migrations(/\bdb:(drop|reset|purge|truncate_all|migrate:reset)\b/),
  artisan: migrations(/\b(migrate:(fresh|reset|refresh)|db:wipe)\b/),
  'manage.py': migrations(/\b(flush|reset_db|sqlflush|migrate \S+ zero)\b/),
  sequelize: migrations(/\bdb:drop|db:migrate:undo:all/),
  'sequelize-cli': migrations(/\bdb:drop|db:migrate:undo:all/),
  typeorm: migrations(/\bschema:drop/),
  knex: migrations(/\bmigrate:rollback\b.*--all/),
  'drizzle-kit': migrations(/^drop\b|^push\b.*--force/),
  alembic: migrations(/^downgrade base\b/),
  mix: migrations(/\becto\.(drop|reset)\b/),
  supabase: migrations(/^db reset\b.*--(linked|db-url)/),
  docker,
  podman: docker,
  nerdctl: docker,
  'docker-compose': (call) => compose(call, call.words),
  'podman-compose': (call) => compose(call, call.words),
  kubectl: kube,
  oc: kube,
  k: kube,
  terraform: infrastructure,
  tofu: infrastructure,
  terragrunt: infrastructure,
  pulumi: infrastructure,
  cdk: infrastructure,
  sst: infrastructure,
  sls: when(/^remove\b/, 'cloud', 'takes down what runs in the cloud', person),
  serverless: when(/^remove\b/, 'cloud', 'takes down what runs in the cloud', person),
  aws: awsCall,
  gcloud: cloud(
    /\b(delete|destroy|remove|reset|stop|detach|disable|remove-iam-policy-binding|add-iam-policy-binding)\b/,
  ),
  gsutil: cloud(/(^|\s)(rm|rb|rsync\s.*-d)\b/),
  az: cloud(/\b(delete|purge|remove|deallocate|stop|reset)\b/),
  doctl: cloud(remove),
  heroku: cloud(remove),
  vercel: cloud(/^(remove|rm)\b|\b(rm|remove)\b/),
  netlify: cloud(remove),
  fly: cloud(remove),
  flyctl: cloud(remove),
  firebase: cloud(remove),
  wrangler: cloud(remove),
  railway: cloud(/^(down|delete|remove)\b/),
  render: cloud(remove),
  linode: cloud(remove),
  'linode-cli': cloud(remove),
  hcloud: cloud(remove),
  ibmcloud: cloud(remove),
  oci: cloud(remove),
  eksctl: cloud(remove),
  kops: cloud(remove),
  kind: when(/^delete clusters? --all/, 'cloud', 'deletes every cluster', person),
  eb: cloud(/^terminate\b/),
  copilot: cloud(/\bdelete\b/),
  rclone: (call) => {
    const [action = '', ...rest] = readArgs(call.words).rest;
    if (/^(delete|purge|deletefile|rmdirs|cleanup)$/.test(action))
      call.act('deny', 'cloud', 'deletes what is stored remotely', person);
    if (/^(copy|sync|move|copyto)$/.test(action)) {
      for (const path of rest) if (!path.includes(':')) call.file('read', path, { recursive: true });
      call.act('warn', 'exfiltration', 'copies files to another machine', person);
    }
    return UNKNOWN;
  },
};
