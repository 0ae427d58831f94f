// What a submitter names is checked at `swarm submit`, and again by the worker: anybody with access to the store can write
// an order.

/** True if git takes a text as the name of a branch (git-check-ref-format), and no command takes it for an option. */
export function isBranchName(name: string): boolean {
  const isForbidden = /[\p{Cc} ~^:?*[\\]|\.\.|@\{|\/\/|^[/-]|[/.]$/u.test(name);
  const isPartBad = (part: string) => part.startsWith('.') || part.endsWith('.lock');
  return name !== '' && name !== '@' && name !== 'HEAD' && !isForbidden && !name.split('/').some(isPartBad);
}

/** True for a relative path that does not lead out of its folder. */
export function isInside(path: string): boolean {
  return !/^[/\\]|(^|[/\\])\.\.([/\\]|$)|\0/.test(path);
}

/** Variables that change how programs are found, loaded or configured: the machine's own. */
const ownVariables =
  /^(?:PATH|HOME|SHELL|IFS|ENV|BASH_ENV|TMPDIR|NODE_(?!ENV$).*|LD_.*|DYLD_.*|GIT_(?!(?:AUTHOR|COMMITTER)_).*|SSH_.*|XDG_.*|RALPH_.*|SWARM_.*)$/i;

/** True if a loop may set a variable for its agent. */
export function isPassable(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name) && !ownVariables.test(name);
}
