import { readArgs } from '../argv.ts';
import { UNKNOWN } from '../marks.ts';
import type { Handlers } from '../model.ts';
import { installer, publisher, release } from './publishing.ts';
import { asksHelp, byName, when } from './rules.ts';

/** Tools that publish what the project makes. */
export const releases: Handlers = byName({
  cargo: publisher(/^(publish|yank|owner|login|release)\b/),
  gem: publisher(/^(push|yank|owner)\b/),
  composer: installer,
  maturin: publisher(/^(publish|upload)\b/),
  'setup.py': publisher(/\b(upload|register)\b/),
  twine: publisher(/^upload\b/),
  'flit jsr elm opam nimble ovsx lerna changeset': publisher(/^publish\b/),
  'mvn mvnw': publisher(/\bdeploy\b/),
  'goreleaser jreleaser': (call) =>
    call.words.some((word) => /^--(snapshot|skip)/.test(word))
      ? UNKNOWN
      : publisher(/^(release|full-release|publish|deploy)\b/)(call),
  'sbt lein': publisher(/\b(publish(?!Local)\w*|deploy)\b/),
  'dart flutter': publisher(/^pub publish\b/),
  'stack cabal luarocks anaconda snapcraft': publisher(/^(upload|push|release)\b/),
  'gradle gradlew': publisher(/\bpublish(?!ToMavenLocal)\w*\b/),
  dotnet: (call) => {
    when(/^ef database drop\b/, 'database', 'drops the database')(call);
    return publisher(/^nuget (push|delete)\b/)(call);
  },
  nuget: publisher(/^(push|delete)\b/),
  vsce: publisher(/^(publish|unpublish)\b/),
  'semantic-release': (call) =>
    readArgs(call.words).has('dry-run') || call.words.includes('--dry-run')
      ? UNKNOWN
      : call.deny('supply-chain', 'publishes a release', release),
  np: (call) => call.deny('supply-chain', 'publishes a package', release),
  'release-it': (call) =>
    call.words.some((word) => /^(--dry-run|--release-version|--changelog)$/.test(word)) || asksHelp(call)
      ? UNKNOWN
      : call.deny('supply-chain', 'publishes a release', release),
  nx: publisher(/^release publish\b/),
  pod: publisher(/^trunk push\b/),
  helm: (call) => {
    const { rest } = readArgs(call.words, 'n', 'namespace kube-context kubeconfig');
    return /^(uninstall|delete|rollback)$/.test(rest[0] ?? '') && !asksHelp(call)
      ? call.deny('cloud', 'removes a deployment')
      : publisher(/^push\b/)(call);
  },
});
