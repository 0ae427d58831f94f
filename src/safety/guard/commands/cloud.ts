import { readArgs } from '../argv.ts';
import { joined } from '../feed.ts';
import { NETWORK, UNKNOWN } from '../marks.ts';
import type { Handler, Handlers } from '../model.ts';
import { isSecretFile } from '../paths.ts';
import { destroysData } from './databases.ts';
import { isOwn } from './hosts.ts';
import { askPerson, when } from './rules.ts';

const awsCall: Handler = (call) => {
  const args = readArgs(call.words, { long: ['profile', 'region', 'output', 'query', 'endpoint-url'] });
  const [service = '', action = '', ...rest] = args.rest;
  const local = /localhost|127\.0\.0\.1/.test(args.value('endpoint-url') ?? '');
  const deny = (what: string) => call.act(local ? 'warn' : 'deny', 'cloud', what, askPerson);
  if (
    /^(delete|terminate|deregister|purge|remove|destroy|detach|revoke|disable|stop|reset|schedule-key-deletion|cancel|release|batch-delete)(-|$)/.test(
      action,
    ) &&
    !args.has('dry-run')
  )
    deny(`${action} in ${service}`);
  if (/^authorize-security-group/.test(action) && call.words.some((word) => /0\.0\.0\.0\/0|::\/0/.test(word)))
    deny('opens machines to everybody');
  if (service === 'iam' && /^(create|attach|put|update|add)-/.test(action))
    deny(`${action}: gives more rights`);
  if (service === 's3') {
    if (/^(rm|rb)$/.test(action) && !args.has('dryrun')) deny('deletes what is stored in S3');
    if (action === 'sync' && args.has('delete')) deny('deletes what is stored in S3');
    const local = rest.filter((path) => !path.startsWith('s3://') && !path.startsWith('-'));
    const remote = rest.some((path) => path.startsWith('s3://'));
    if (/^(cp|mv|sync)$/.test(action) && remote && rest.at(-1)?.startsWith('s3://')) {
      for (const path of local) call.file('read', path, { recursive: true });
      call.act('warn', 'exfiltration', `copies files to ${rest.at(-1)}`, askPerson);
    }
    if (action === 'cp' && rest.at(-1) === '-') return NETWORK;
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

/** What can be asked of a machine without changing it. */
const onlyLooks = /^(ls|ps|df|du|date|pwd|whoami|id|uname|hostname|stat|nslookup|free|uptime)$/;

const kube: Handler = (call) => {
  const args = readArgs(call.words, {
    letters: 'nflock',
    long: ['namespace', 'context', 'filename', 'kubeconfig', 'selector', 'output'],
  });
  const [action = '', kind = ''] = args.rest;
  if (args.has('dry-run')) return UNKNOWN;
  if (/^(delete|drain|cordon|taint|replace)$/.test(action))
    call.act('deny', 'cloud', `${action} in the cluster`, askPerson);
  if (action === 'scale' && args.value('replicas') === '0')
    call.act('deny', 'cloud', 'stops a deployment', askPerson);
  if (
    action === 'run' &&
    call.words.some((word) => /^--privileged|hostPID|hostNetwork|"privileged":\s*true/.test(word))
  )
    call.act('deny', 'container', 'starts a container with all rights', askPerson);
  const inner = call.words[call.words.indexOf('--') + 1] ?? '';
  if (/^(exec|attach|debug)$/.test(action) && !(call.words.includes('--') && onlyLooks.test(inner)))
    call.act('deny', 'container', 'runs commands in the cluster', askPerson);
  if (
    action === 'get' &&
    /^secrets?(\/|$)/.test(kind) &&
    (args.has('o', 'output') || call.words.some((word) => word.startsWith('-o')))
  )
    call.act('deny', 'credentials', 'prints secrets of the cluster', askPerson);
  if (action === 'config' && kind === 'view' && args.has('raw'))
    call.act('deny', 'credentials', 'prints the credentials of the cluster', askPerson);
  return UNKNOWN;
};

const teardown = (pattern: RegExp) => when(pattern, 'cloud', 'takes down what runs in the cloud', askPerson);

const tokens =
  /\b(auth (print-(access|identity)-token|application-default print-access-token)|account get-access-token|auth:token|tokens? (create|list)|config get.*token)\b/;

function provider(pattern: RegExp): Handler {
  const down = teardown(pattern);
  const printed = when(tokens, 'credentials', 'prints a token', 'Let the program that needs it ask for it.');
  return (call) => {
    if (call.words.includes('--help') || call.words.includes('--dry-run')) return UNKNOWN;
    for (const word of call.words)
      if (word.includes('/') && isSecretFile(call.path(word), call.shell.world.context, false))
        call.file('read', word);
    down(call);
    return printed(call);
  };
}

const infrastructure: Handler = (call) => {
  const args = readArgs(call.words, { long: ['chdir', 'stack', 'target', 'var', 'var-file'] });
  const [action = '', sub = ''] = args.rest.filter((word) => !/^(run-all|run|--)$/.test(word));
  const yes = call.words.some((word) => /^(--?auto-approve|--yes|-y|--skip-preview|--force|-f)$/.test(word));
  if (
    /^(destroy|force-unlock|taint)$/.test(action) ||
    (action === 'state' && /^(rm|push|mv)$/.test(sub)) ||
    (/^(workspace|stack)$/.test(action) && /^(delete|rm)$/.test(sub))
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

/** What runs in the cloud. */
export const cloud: Handlers = {
  bq: when(/\b(rm|remove)\b/, 'cloud', 'deletes data', askPerson),
  kubectl: kube,
  oc: kube,
  k: kube,
  terraform: infrastructure,
  tofu: infrastructure,
  terragrunt: infrastructure,
  pulumi: infrastructure,
  cdk: infrastructure,
  sst: infrastructure,
  sls: when(/^remove\b/, 'cloud', 'takes down what runs in the cloud', askPerson),
  serverless: when(/^remove\b/, 'cloud', 'takes down what runs in the cloud', askPerson),
  aws: awsCall,
  gcloud: provider(
    /\b(delete|storage (rm|buckets delete)|destroy|remove|reset|stop|detach|disable|remove-iam-policy-binding|add-iam-policy-binding)\b/,
  ),
  gsutil: (call) => {
    const [action = '', ...paths] = readArgs(call.words).rest;
    if (/^(cp|mv|rsync)$/.test(action) && paths.at(-1)?.startsWith('gs://'))
      for (const path of paths) if (!path.startsWith('gs://')) call.file('read', path, { recursive: true });
    return provider(/(^|\s)(rm|rb|rsync\s.*-d)\b/)(call);
  },
  az: provider(/\b(delete|purge|remove|deallocate|stop|reset)\b/),
  doctl: provider(remove),
  heroku: provider(remove),
  vercel: provider(/^(remove|rm)\b|\b(rm|remove)\b/),
  netlify: provider(remove),
  fly: provider(remove),
  flyctl: provider(remove),
  firebase: provider(remove),
  wrangler: (call) => {
    const what = destroysData(readArgs(call.words, { long: ['command', 'file'] }).value('command') ?? '');
    if (what && !call.words.includes('--local'))
      call.act('deny', 'database', `${what} in the database`, askPerson);
    return provider(remove)(call);
  },
  sam: provider(/^delete\b/),
  openstack: provider(/\bdelete\b/),
  vagrant: when(/^destroy\b/, 'cloud', 'deletes a machine and its data', askPerson),
  virsh: when(/^(destroy|undefine|vol-delete|pool-delete)\b/, 'cloud', 'deletes a machine', askPerson),
  ansible: (call) => {
    const args = readArgs(call.words, { letters: 'miaubfl', long: ['module-name', 'args', 'inventory'] });
    const order = args.value('a', 'args') ?? '';
    const isShell = /^(shell|command|raw|script)$/.test(args.value('m', 'module-name') ?? 'command');
    return isShell ? joined(call, [order]) : UNKNOWN;
  },
  railway: provider(/^(down|delete|remove)\b/),
  render: provider(remove),
  linode: provider(remove),
  'linode-cli': provider(remove),
  hcloud: provider(remove),
  ibmcloud: provider(remove),
  oci: provider(remove),
  eksctl: provider(remove),
  kops: provider(remove),
  kind: when(/^delete clusters? --all/, 'cloud', 'deletes every cluster', askPerson),
  eb: provider(/^terminate\b/),
  copilot: provider(/\bdelete\b/),
  rclone: (call) => {
    const [action = '', ...rest] = readArgs(call.words).rest;
    if (/^(delete|purge|deletefile|rmdirs|cleanup)$/.test(action))
      call.act('deny', 'cloud', 'deletes what is stored remotely', askPerson);
    if (/^(copy|sync|move|copyto)$/.test(action)) {
      for (const path of rest) if (!path.includes(':')) call.file('read', path, { recursive: true });
      const own = rest.every((path) => path.includes(':') || isOwn(call, path));
      call.act(own ? 'warn' : 'deny', 'exfiltration', 'copies files to another machine', askPerson);
    }
    return UNKNOWN;
  },
};
