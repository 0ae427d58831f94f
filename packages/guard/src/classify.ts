import { hasGlob, isOpaque, show } from './marks.ts';
import type { Category, Effect, FileEffect, Finding, GuardContext } from './model.ts';
import { isInside, type Zone } from './paths.ts';
import { ruleIsReached, ruleMatches } from './policy.ts';
import type { GuardRule } from './policy-schema.ts';
import { worst } from './verdicts.ts';
import { isSecretFile, zoneOf } from './zones.ts';

const allowed: Finding = { verdict: 'allow' };

type Refusal = { readonly verdict: 'warn' | 'deny'; readonly category: Category; readonly reason: string };

/** Judges one effect: of a file, at its path and where a link leads from there. */
export function judgeEffect(effect: Effect, context: GuardContext): Finding {
  const here = judgeAt(effect, context);
  const forItsPlace = /^(destructive-files|sensitive-path)$/.test(here.category ?? '');
  if (effect.kind === 'act' || (here.verdict === 'deny' && !forItsPlace)) return here;
  const real = realPathOf(effect, context);
  if (real === effect.path) return here;
  const there = judgeAt({ ...effect, path: real }, context);
  // The project by another name: a folder above it is a link. A file that is one may be replaced instead of followed.
  const inFolder = realPathOf({ ...effect, kind: 'delete' }, context);
  const isProject = isInside(inFolder, context.projectRoot) && !isInside(effect.path, context.projectRoot);
  return isProject ? there : worst([here, there]);
}

/** Longest path that open(2) accepts on any supported system. */
const longestPath = 4096;

function realPathOf({ kind, path }: FileEffect, { realPath }: GuardContext): string {
  if (!realPath || path.length > longestPath || isOpaque(path) || hasGlob(path)) return path;
  // A link that is deleted goes alone; what it leads to stays.
  const cut = kind === 'delete' ? path.lastIndexOf('/') : path.length;
  return realPath(path.slice(0, cut) || '/').replace(/\/$/, '') + path.slice(cut);
}

/** A rule that denies comes before the guard's own judgement, one that allows after it. */
function judgeAt(effect: Effect, context: GuardContext): Finding {
  const own = judge(effect, context);
  const { policy, projectRoot: project, home } = context;
  if (!policy) return own ?? allowed;
  const names = effect.kind === 'act' ? [effect.category] : [effect.kind, ...(own ? [own.category] : [])];
  const path = effect.kind === 'act' ? undefined : effect.path;
  const applies = (rule: GuardRule) => names.some((name) => ruleMatches(rule, name, path, { project, home }));
  const denial = policy.deny.find(
    (rule) => applies(rule) || (effect.kind !== 'act' && ruleIsReached(rule, effect, { project, home })),
  );
  if (denial) {
    return {
      verdict: 'deny',
      category: 'policy',
      reason: denial.reason ?? `${describeEffect(effect)}: the project forbids this (.ralph/guard.json).`,
    };
  }
  if (!own) return allowed;
  // No rule of a project may open what protects the guard.
  if (!/^(loop-state|agent-settings|unparsable)$/.test(own.category) && policy.allow.some(applies))
    return allowed;
  return own;
}

export function describeEffect(effect: Effect): string {
  if (effect.kind === 'act') return effect.what;
  return `${effect.kind}s ${show(effect.path)}${effect.recursive ? ' and all below' : ''}`;
}

function judge(effect: Effect, context: GuardContext): Refusal | null {
  switch (effect.kind) {
    case 'act':
      return {
        verdict: effect.verdict,
        category: effect.category,
        reason: `${effect.what}. ${effect.instead}`,
      };
    case 'read':
      return isSecretFile(effect.path, context, effect.recursive) ? deny(effect.path, ...secretFile) : null;
    case 'delete':
      return judgeDelete(effect, context);
    case 'write':
      return judgeWrite(effect, context);
  }
}

type Why = readonly [category: Category, why: string];
type Whys = Partial<Record<Zone, Why>>;

function deny(path: string, category: Category, why: string): Refusal {
  return { verdict: 'deny', category, reason: `${show(path)} ${why}` };
}

const secretFile: Why = [
  'credentials',
  'holds secrets. Work without reading it; a person can pass on what you need.',
];

const neverTouched: Whys = {
  loop: ['loop-state', 'belongs to the loop that runs you. Leave it; work on the task.'],
  agent: ['agent-settings', 'decides what you may do. A person has to change it.'],
  hooks: ['git-hooks', 'is part of how git runs programs here. A person has to change it.'],
  device: ['disk', 'is a device. Write to a file in the project.'],
  kernel: ['process', 'belongs to the kernel. Leave it.'],
};

const outside: Why = ['destructive-files', 'is outside the project. Delete only what is inside it.'];
const neverDeleted: Whys = {
  ...neverTouched,
  'project-root': ['destructive-files', 'is the project itself. Name what is to go.'],
  git: ['git', 'holds the history of the project. Leave it.'],
  startup: outside,
  credentials: outside,
  home: outside,
  system: outside,
  'temporary-root': outside,
  outside,
};

const neverWritten: Whys = {
  ...neverTouched,
  git: ['git', 'belongs to git. Use git commands.'],
  startup: ['persistence', 'is read by every session of the user. A person has to change it.'],
  credentials: ['sensitive-path', 'holds secrets. A person has to change it.'],
  system: ['sensitive-path', 'belongs to the system. Work inside the project.'],
};

function judgeDelete({ path, recursive }: FileEffect, context: GuardContext): Refusal | null {
  const zone = zoneOf(path, context, recursive);
  const why = neverDeleted[zone];
  if (why) return deny(path, ...why);
  if (zone === 'unknown' && recursive)
    return {
      verdict: context.unattended ? 'deny' : 'warn',
      category: 'destructive-files',
      reason: 'what would be deleted is known only at run time. Name the folder.',
    };
  if (zone === 'project' && isAllOf(path, context.projectRoot))
    return deny(path, 'destructive-files', 'is all of the project. Name what is to go.');
  if (zone === 'temporary' && (isAllOf(path, '/tmp') || isAllOf(path, '/var/tmp')))
    return deny(path, 'destructive-files', 'holds files of other programs. Name your own.');
  return null;
}

/** A bare star takes everything; `*.log` does not. */
function isAllOf(path: string, folder: string): boolean {
  return (
    path.startsWith(`${folder}/`) &&
    /^[.\uE003\uE004]*\uE003[\uE003\uE004]*$/.test(path.slice(folder.length + 1))
  );
}

function judgeWrite({ path, how, recursive }: FileEffect, context: GuardContext): Refusal | null {
  const zone = zoneOf(path, context, recursive);
  const why = neverWritten[zone];
  if (why) return deny(path, ...why);
  if (zone !== 'home' && zone !== 'outside') return null;
  if (how === 'create')
    return { ...deny(path, 'sensitive-path', 'is outside the project. Work inside it.'), verdict: 'warn' };
  const category = how === 'overwrite' ? 'destructive-files' : 'sensitive-path';
  return deny(path, category, 'is outside the project. Write inside it or under /tmp.');
}
