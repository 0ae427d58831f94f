// Copy this file to .opencode/plugins/ in a project that has ralphkit installed.
export { RalphLoop } from 'ralphkit/opencode';
