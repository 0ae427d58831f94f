import { readArgs } from '../argv.ts';
import type { Call, Handler, Handlers } from '../call.ts';
import { askPerson, remedyOf } from '../categories.ts';
import { joined } from '../feed.ts';
import { NETWORK, show, UNKNOWN } from '../marks.ts';
import type { Category } from '../model.ts';
import { isSecretFile } from '../zones.ts';
import { destroysData } from './data.ts';
import { fetchesFiles } from './fetched.ts';
import { uploads } from './hosts.ts';
import { asksHelp, byName, denying, when } from './rules.ts';

function copiesAway(call: Call, paths: readonly string[]): void {
  const isRemote = (path: string) => /^\w+:/.test(path);
  const target = paths.at(-1) ?? '';
  const local = paths.filter((path) => !isRemote(path) && path !== '-');
  if (isRemote(target)) uploads(call, local, target);
  else fetchesFiles(call, paths.slice(0, -1), target);
}

/** A denied form of a command line without global options; options before its first word come last. */
type CloudRule = readonly [pattern: RegExp, what: string, category?: Category];

function denyCloud(call: Call, globals: RegExp, rules: readonly CloudRule[], local = false): void {
  const line = ` ${call.words.map(show).join(' ')}`
    .replace(globals, '')
    .replace(/^((?: -\S*)*) (.*)$/s, '$2$1');
  for (const [pattern, what, category = 'cloud'] of rules)
    if (pattern.test(line)) call.act(local ? 'warn' : 'deny', category, what, askPerson);
}

const awsOptions = / --(profile|region|output|query|endpoint-url)[ =]\S+/g;

const awsRules: readonly CloudRule[] = [
  [
    /^\S+ (delete|terminate|close|leave|deregister|purge|remove|destroy|detach|revoke|disable|stop|reset|schedule-key-deletion|cancel|release|batch-delete)(-|\s|$)(?!.* --dry-run\b)/,
    'deletes, stops or closes something in the cloud',
  ],
  [/^\S+ authorize-security-group.*(0\.0\.0\.0\/0|::\/0)/, 'opens machines to everybody'],
  [/^\S+ put-.*(\s(public|authenticated)-read|"Principal":\s*"\*")/, 'opens what is stored to everybody'],
  [/^\S+ (update-service|set-desired-capacity)\b.*--desired-(count|capacity)[ =]0\b/, 'stops a service'],
  [/^iam (create|attach|put|update|add)-/, 'gives more rights'],
  [/^s3 (rm|rb)\b(?!.* --dryrun\b)|^s3 sync\b.* --delete\b/, 'deletes what is stored in S3'],
  [/^s3 mv s3:\/\/.* --recursive\b/, 'moves what is stored in S3'],
];

const printsCredentials =
  /^(sts (get-session-token|assume-role)|configure get aws_(secret|session)|secretsmanager get-secret-value|ssm get-parameters?|ecr get-login-password|configure export-credentials)/;

const kubeRules: readonly CloudRule[] = [
  [/^(delete|drain|cordon|taint|replace)\b/, 'deletes or replaces something in the cluster'],
  [/^scale\b.*--replicas[= ]0\b/, 'stops a deployment'],
  [/^create (cluster)?rolebinding\b/, 'gives more rights in the cluster'],
  [/^config (delete-|unset)/, 'forgets a cluster'],
  [
    /^run\b.*(\s--privileged|hostPID|hostNetwork|"privileged":\s*true)/,
    'starts a container with all rights',
    'container',
  ],
  [
    /^(exec|attach|debug)\b(?!.* -- (ls|ps|df|du|date|pwd|whoami|id|uname|hostname|stat|nslookup|free|uptime)\b)/,
    'runs commands in the cluster',
    'container',
  ],
  [/^get\b(?=.* secrets?([/ ]|$)).* (-o|--output)/, 'prints secrets of the cluster', 'credentials'],
  [/^create token\b|^config view\b.*--raw\b/, 'prints credentials of the cluster', 'credentials'],
];

const tokens =
  /\b(auth (print-(access|identity)-token|application-default print-access-token)|account get-access-token|auth:token|tokens? (create|list)|config get.*token|keys create|versions access|keyvault secret (show|download)|account keys list|credential show|create-for-rbac|role assignment create|list-keys)\b/;

function provider(pattern: RegExp): Handler {
  const down = when(pattern, 'cloud', 'takes down what runs in the cloud');
  const printed = when(tokens, 'credentials', 'prints a token', remedyOf('credentials'));
  return (call) => {
    if (asksHelp(call) || call.words.includes('--dry-run')) return UNKNOWN;
    for (const word of call.words)
      if (isSecretFile(call.path(word), call.context, false)) call.file('read', word);
    const absolute = call.words.filter((word) => word.startsWith('/'));
    if (call.words[0] === 'deploy') uploads(call, absolute, call.name);
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

const infrastructureRules: readonly CloudRule[] = [
  [/^(destroy|force-unlock|taint|remove|destroy-all)\b/, 'destroys infrastructure'],
  [/^(state (rm|push|mv)|(workspace|stack) (delete|rm))\b/, 'destroys infrastructure'],
  [
    /^(apply|up|deploy)\b.*\s(--?auto-approve|--yes|-y|--skip-preview|--force|-f|--?destroy)(\s|$)/,
    'changes the infrastructure without asking',
  ],
];

const remove =
  /\b(delete|permanent-delete|destroy|remove|rm|terminate|purge|apps?:destroy|addons:destroy|pg:reset|db:reset|projects?:delete|site:delete|sites:delete|hosting:disable|firestore:delete|functions:delete|secrets? (set|put|delete|unset|rm)|secret (put|delete)|config:(unset|set)|env:(unset|set)|env (rm|remove)|ps:scale \S+=0|scale count 0|erase|teardown|uninstall)\b|(^|\s)rb\s/;
const provided = provider(remove);

export const cloud: Handlers = byName(
  denying('cloud', 'takes down what runs there, or deletes its data', {
    bq: /\b(rm|remove)\b/,
    'sls serverless': /^remove\b/,
    'qm pct': /^(destroy|stop|shutdown|reset)\b/,
    'ecs-cli': /^(down|compose .*\b(down|rm))\b/,
    nomad: /^(job stop|stop|system gc|namespace delete|node drain)\b/,
    'restic borg kopia duplicity duplicacy': /\b(forget|prune|delete|remove\S*|purge)\b/,
    vagrant: /^destroy\b/,
    'VBoxManage vboxmanage': /^(unregistervm|closemedium)\b.*--delete|^controlvm \S+ poweroff/,
    virsh: /^(destroy|undefine|vol-delete|pool-delete)\b/,
    kind: /^delete clusters? --all/,
  }),
  {
    'kubectl oc k': (call) => {
      const args = readArgs(call.words, 'nflock', 'namespace context filename kubeconfig selector output');
      if (args.has('dry-run') || asksHelp(call)) return UNKNOWN;
      denyCloud(call, / (-n|--namespace|--context|--kubeconfig)[ =]\S+/g, kubeRules);
      const [action, ...paths] = args.rest;
      if (action === 'cp' && !/^\w[\w/.-]*:/.test(paths[0] ?? ''))
        uploads(call, paths.slice(0, -1), paths.at(-1) ?? '');
    },
    'terraform tofu terragrunt pulumi cdk sst': (call) => {
      if (!asksHelp(call))
        denyCloud(call, / (run-all|run|--|--?(chdir|stack|target)[ =]\S+)(?=\s)/g, infrastructureRules);
    },
    aws: (call) => {
      const args = readArgs(call.words, '', 'profile region output query endpoint-url sql statement body');
      const [service = '', action = '', ...rest] = args.rest;
      const local = /localhost|127\.0\.0\.1/.test(args.value('endpoint-url') ?? '');
      if (asksHelp(call) || call.words.at(-1) === 'help') return UNKNOWN;
      denyCloud(call, awsOptions, awsRules, local);
      if (action === 'put-object') copiesAway(call, [args.value('body') ?? '', 's3://']);
      const what = destroysData(args.value('sql', 'statement') ?? '');
      if (what) call.deny('database', `${what} in the database`, askPerson);
      if (printsCredentials.test(args.rest.join(' '))) call.deny('credentials', 'prints credentials');
      if (service === 's3' && /^(cp|mv|sync)$/.test(action) && !local) copiesAway(call, rest.slice(0, 2));
      return `${service} ${action} ${rest[1]}` === 's3 cp -' ? NETWORK : UNKNOWN;
    },
    gcloud: (call) => {
      const [service = '', action = '', ...paths] = readArgs(call.words).rest;
      if (service === 'storage' && /^(cp|mv|rsync)$/.test(action)) copiesAway(call, paths);
      return provider(
        /\b(delete|storage rm|destroy|remove|reset|stop|detach|disable|remove-iam-policy-binding|add-iam-policy-binding)\b/,
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
      return provided(call);
    },
    'doctl netlify fly flyctl firebase firebase-tools render linode linode-cli hcloud ibmcloud oci': provided,
    'eksctl kops argocd flux okteto pscale neon neonctl turso planetscale confluent stripe rancher': provided,
    'upstash databricks civo scw exo vultr-cli': provided,
    vercel: provider(/\b(rm|remove)\b/),
    'sam eb': provider(/^(delete|terminate)\b/),
    'openstack copilot': provider(/\bdelete\b/),
    'mc s3cmd s5cmd azcopy b2 tkn istioctl kn faas-cli multipass limactl colima lando': (call) => {
      if (/^(cp|put|sync|copy|mirror|upload)$/.test(call.words[0] ?? ''))
        copiesAway(call, readArgs(call.words.slice(1)).rest);
      if (call.name === 's3cmd') provider(/(^|\s)del\s/)(call);
      return provided(call);
    },
    wrangler: (call) => {
      const what = destroysData(readArgs(call.words, '', 'command file').value('command') ?? '');
      if (what && !call.words.includes('--local'))
        call.deny('database', `${what} in the database`, askPerson);
      return provided(call);
    },
    snow: (call) => call.run(['snowsql', ...call.words.slice(1)]),
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
    rclone: (call) => {
      const [action = '', ...rest] = readArgs(call.words).rest;
      if (/^(delete|purge|deletefile|rmdirs|cleanup)$/.test(action))
        call.deny('cloud', 'deletes what is stored remotely');
      if (action === 'sync' && rest.at(-1)?.includes(':'))
        call.deny('cloud', 'deletes what is stored remotely and not here', 'Use rclone copy.');
      if (/^(copy|sync|move|copyto)$/.test(action)) copiesAway(call, rest);
    },
  },
);
