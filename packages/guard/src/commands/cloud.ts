import { readArgs } from '../argv.ts';
import { askPerson } from '../categories.ts';
import { joined } from '../feed.ts';
import { NETWORK, shown, UNKNOWN } from '../marks.ts';
import type { Call, Handler, Handlers } from '../model.ts';
import { isSecretFile } from '../zones.ts';
import { destroysData } from './data.ts';
import { fetchesFiles } from './fetched.ts';
import { uploads } from './hosts.ts';
import { asksHelp, byName, when } from './rules.ts';

/** Local paths that go to where the last one leads, or what comes from there. */
function copiesAway(call: Call, paths: readonly string[]): void {
  const isRemote = (path: string) => /^\w+:/.test(path);
  const target = paths.at(-1) ?? '';
  const local = paths.filter((path) => !isRemote(path) && path !== '-');
  if (isRemote(target)) uploads(call, local, target);
  else fetchesFiles(call, paths.slice(0, -1), target);
}

const awsCall: Handler = (call) => {
  const args = readArgs(call.words, '', 'profile region output query endpoint-url sql statement body');
  const [service = '', action = '', ...rest] = args.rest;
  const local = /localhost|127\.0\.0\.1/.test(args.value('endpoint-url') ?? '');
  const deny = (what: string) => call.act(local ? 'warn' : 'deny', 'cloud', what);
  if (asksHelp(call) || call.words.at(-1) === 'help') return UNKNOWN;
  if (
    /^(delete|terminate|close|leave|deregister|purge|remove|destroy|detach|revoke|disable|stop|reset|schedule-key-deletion|cancel|release|batch-delete)(-|$)/.test(
      action,
    ) &&
    !args.has('dry-run')
  )
    deny(`${action} in ${service}`);
  if (/^authorize-security-group/.test(action) && call.words.some((word) => /0\.0\.0\.0\/0|::\/0/.test(word)))
    deny('opens machines to everybody');
  if (
    call.words.some((word) => /^public-read|^authenticated-read|"Principal":\s*"\*"/.test(word)) &&
    /^put-/.test(action)
  )
    deny('opens what is stored to everybody');
  if (
    /^(update-service|set-desired-capacity)$/.test(action) &&
    /--desired-(count|capacity)[ =]0\b/.test(call.words.join(' '))
  )
    deny('stops a service');
  if (action === 'put-object') copiesAway(call, [args.value('body') ?? '', 's3://']);
  const [sql] = ['sql', 'statement'].flatMap((name) => args.value(name) ?? []);
  if (destroysData(sql ?? '')) call.deny('database', `${destroysData(sql ?? '')} in the database`, askPerson);
  if (service === 'iam' && /^(create|attach|put|update|add)-/.test(action))
    deny(`${action}: gives more rights`);
  if (service === 's3') {
    if (/^(rm|rb)$/.test(action) && !args.has('dryrun')) deny('deletes what is stored in S3');
    if (action === 'mv' && args.has('recursive') && rest[0]?.startsWith('s3://'))
      deny('moves what is stored in S3');
    if (action === 'sync' && args.has('delete')) deny('deletes what is stored in S3');
    if (/^(cp|mv|sync)$/.test(action) && !local) copiesAway(call, rest.slice(0, 2));
    if (action === 'cp' && rest[1] === '-') return NETWORK;
  }
  const line = args.rest.join(' ');
  if (
    /^(sts (get-session-token|assume-role)|configure get aws_(secret|session)|secretsmanager get-secret-value|ssm get-parameters?|ecr get-login-password|configure export-credentials)/.test(
      line,
    )
  )
    call.deny('credentials', 'prints credentials');
};

/** What can be asked of a machine without changing it. */
const onlyLooks = /^(ls|ps|df|du|date|pwd|whoami|id|uname|hostname|stat|nslookup|free|uptime)$/;

const kube: Handler = (call) => {
  const args = readArgs(call.words, 'nflock', 'namespace context filename kubeconfig selector output');
  const [action = '', kind = '', name = ''] = args.rest;
  if (args.has('dry-run') || asksHelp(call)) return UNKNOWN;
  if (/^(delete|drain|cordon|taint|replace)$/.test(action)) call.deny('cloud', `${action} in the cluster`);
  if (action === 'cp' && !call.words.some((word) => /^\w[\w/.-]*:/.test(word) && word === args.rest[1]))
    uploads(call, args.rest.slice(1, -1), args.rest.at(-1) ?? '');
  if (action === 'scale' && args.value('replicas') === '0') call.deny('cloud', 'stops a deployment');
  if (
    action === 'run' &&
    call.words.some((word) => /^--privileged|hostPID|hostNetwork|"privileged":\s*true/.test(word))
  )
    call.deny('container', 'starts a container with all rights');
  const inner = call.words[call.words.indexOf('--') + 1] ?? '';
  if (/^(exec|attach|debug)$/.test(action) && !(call.words.includes('--') && onlyLooks.test(inner)))
    call.deny('container', 'runs commands in the cluster');
  if (
    action === 'get' &&
    /^secrets?(\/|$)/.test(kind) &&
    (args.has('o', 'output') || call.words.some((word) => word.startsWith('-o')))
  )
    call.deny('credentials', 'prints secrets of the cluster', askPerson);
  if (action === 'create' && /^(cluster)?rolebinding$/.test(kind))
    call.deny('cloud', 'gives more rights in the cluster');
  if (action === 'create' && kind === 'token')
    call.deny('credentials', 'prints a token of the cluster', askPerson);
  if (action === 'config' && /^(delete-|unset)/.test(kind))
    call.deny('cloud', `forgets the cluster ${shown(name)}`);
  if (action === 'config' && kind === 'view' && args.has('raw'))
    call.deny('credentials', 'prints the credentials of the cluster', askPerson);
};

const teardown = (pattern: RegExp) => when(pattern, 'cloud', 'takes down what runs in the cloud');

const tokens =
  /\b(auth (print-(access|identity)-token|application-default print-access-token)|account get-access-token|auth:token|tokens? (create|list)|config get.*token|keys create|versions access|keyvault secret (show|download)|account keys list|credential show|create-for-rbac|role assignment create|list-keys)\b/;

function provider(pattern: RegExp): Handler {
  const down = teardown(pattern);
  const printed = when(tokens, 'credentials', 'prints a token', 'Let the program that needs it ask for it.');
  return (call) => {
    if (asksHelp(call) || call.words.includes('--dry-run')) return UNKNOWN;
    for (const word of call.words)
      if (isSecretFile(call.path(word), call.shell.world.context, false)) call.file('read', word);
    if (call.words[0] === 'deploy')
      uploads(
        call,
        call.words.filter((word) => word.startsWith('/')),
        call.name,
      );
    // What has a space in it is a message or an order for another program.
    const plain = call.with({ words: call.words.filter((word) => !/\s/.test(word)) });
    if (
      call.words.some((word) => /(^|=)(0\.0\.0\.0\/0|::\/0)$|allUsers|allAuthenticatedUsers/.test(word)) &&
      /\b(create|update|ch|set|add)\b/.test(plain.words.join(' '))
    )
      call.deny('cloud', 'opens it to everybody');
    down(plain);
    return printed(plain);
  };
}

const infrastructure: Handler = (call) => {
  const args = readArgs(call.words, '', 'chdir stack target var var-file');
  const [action = '', sub = ''] = args.rest.filter((word) => !/^(run-all|run|--)$/.test(word));
  if (asksHelp(call)) return UNKNOWN;
  const yes = call.words.some((word) => /^(--?auto-approve|--yes|-y|--skip-preview|--force|-f)$/.test(word));
  if (
    /^(destroy|force-unlock|taint|remove|destroy-all)$/.test(action) ||
    (action === 'state' && /^(rm|push|mv)$/.test(sub)) ||
    (/^(workspace|stack)$/.test(action) && /^(delete|rm)$/.test(sub))
  )
    call.deny('cloud', `${action} of the infrastructure`, 'Use plan, and let a person apply it.');
  else if (
    /^(apply|up|deploy)$/.test(action) &&
    (yes || call.words.some((word) => /^--?destroy$/.test(word)))
  )
    call.deny('cloud', 'changes the infrastructure without asking', 'Use plan, and let a person apply it.');
};

const remove =
  /\b(delete|permanent-delete|destroy|remove|rm|terminate|purge|apps?:destroy|addons:destroy|pg:reset|db:reset|projects?:delete|site:delete|sites:delete|hosting:disable|firestore:delete|functions:delete|secrets? (set|put|delete|unset|rm)|secret (put|delete)|config:(unset|set)|env:(unset|set)|env (rm|remove)|ps:scale \S+=0|scale count 0|erase|teardown|uninstall)\b|(^|\s)rb\s/;

/** What runs in the cloud. */
export const cloud: Handlers = byName({
  bq: when(/\b(rm|remove)\b/, 'cloud', 'deletes data'),
  'kubectl oc k': kube,
  'terraform tofu terragrunt pulumi cdk sst': infrastructure,
  sls: when(/^remove\b/, 'cloud', 'takes down what runs in the cloud'),
  serverless: when(/^remove\b/, 'cloud', 'takes down what runs in the cloud'),
  aws: awsCall,
  gcloud: (call) => {
    const [service = '', action = '', ...paths] = readArgs(call.words).rest;
    if (service === 'storage' && /^(cp|mv|rsync)$/.test(action)) copiesAway(call, paths);
    return provider(
      /\b(delete|storage (rm|buckets delete)|destroy|remove|reset|stop|detach|disable|remove-iam-policy-binding|add-iam-policy-binding)\b/,
    )(call);
  },
  gsutil: (call) => {
    const [action = '', ...paths] = readArgs(call.words).rest;
    if (/^(cp|mv|rsync)$/.test(action)) copiesAway(call, paths);
    provider(/(^|\s)(rm|rb|rsync\s.*-d)\b/)(call);
    return paths.at(-1) === '-' ? NETWORK : UNKNOWN;
  },
  az: provider(/\b(delete|purge|remove|deallocate|stop|reset)\b/),
  heroku: (call) => {
    const args = readArgs(call.words, 'aric', 'app remote command');
    if (/^config(:get)?$/.test(args.rest[0] ?? ''))
      call.deny('credentials', 'prints the secrets of the app', askPerson);
    if (args.rest[0] === 'pg:psql') call.run(['psql', '-c', args.value('c', 'command') ?? '']);
    return provider(remove)(call);
  },
  vercel: provider(/^(remove|rm)\b|\b(rm|remove)\b/),
  'doctl netlify fly flyctl firebase firebase-tools render linode linode-cli hcloud ibmcloud oci eksctl kops argocd flux okteto':
    provider(remove),
  'pscale neon neonctl turso planetscale confluent stripe rancher upstash databricks civo scw exo vultr-cli':
    provider(remove),
  'mc s3cmd s5cmd azcopy b2 tkn istioctl kn faas-cli multipass limactl colima lando': (call) => {
    if (/^(cp|put|sync|copy|mirror|upload)$/.test(call.words[0] ?? ''))
      copiesAway(call, readArgs(call.words.slice(1)).rest);
    if (call.name === 's3cmd') provider(/(^|\s)del\s/)(call);
    return provider(remove)(call);
  },
  'qm pct': when(/^(destroy|stop|shutdown|reset)\b/, 'cloud', 'takes a machine down'),
  'ecs-cli': when(/^(down|compose .*\b(down|rm))\b/, 'cloud', 'takes down what runs in the cloud'),
  nomad: when(/^(job stop|stop|system gc|namespace delete|node drain)\b/, 'cloud', 'takes a job down'),
  'restic borg kopia duplicity duplicacy': when(
    /\b(forget|prune|delete|remove\S*|purge)\b/,
    'cloud',
    'deletes backups',
  ),
  wrangler: (call) => {
    const what = destroysData(readArgs(call.words, '', 'command file').value('command') ?? '');
    if (what && !call.words.includes('--local')) call.deny('database', `${what} in the database`, askPerson);
    return provider(remove)(call);
  },
  sam: provider(/^delete\b/),
  'openstack copilot': provider(/\bdelete\b/),
  vagrant: when(/^destroy\b/, 'cloud', 'deletes a machine and its data'),
  snow: (call) => call.run(['snowsql', ...call.words.slice(1)]),
  'VBoxManage vboxmanage': when(
    /^(unregistervm|closemedium)\b.*--delete|^controlvm \S+ poweroff/,
    'cloud',
    'deletes a machine',
  ),
  virsh: when(/^(destroy|undefine|vol-delete|pool-delete)\b/, 'cloud', 'deletes a machine'),
  'salt salt-call': (call) => {
    const at = call.words.indexOf('cmd.run');
    return at === -1 ? UNKNOWN : joined(call, call.words.slice(at + 1));
  },
  ansible: (call) => {
    const args = readArgs(call.words, 'miaubfl', 'module-name args inventory');
    const order = args.value('a', 'args') ?? '';
    const isShell = /^(shell|command|raw|script)$/.test(args.value('m', 'module-name') ?? 'command');
    return isShell ? joined(call, [order]) : UNKNOWN;
  },
  railway: provider(/^down\b|\b(delete|remove)\b/),
  kind: when(/^delete clusters? --all/, 'cloud', 'deletes every cluster'),
  eb: provider(/^terminate\b/),
  rclone: (call) => {
    const [action = '', ...rest] = readArgs(call.words).rest;
    if (/^(delete|purge|deletefile|rmdirs|cleanup)$/.test(action))
      call.deny('cloud', 'deletes what is stored remotely');
    if (action === 'sync' && rest.at(-1)?.includes(':'))
      call.deny('cloud', 'deletes what is stored remotely and not here', 'Use rclone copy.');
    if (/^(copy|sync|move|copyto)$/.test(action)) copiesAway(call, rest);
  },
});
