import type { Handlers } from '../call.ts';
import { UNKNOWN } from '../marks.ts';
import { installer, publisher, release } from './publishing.ts';
import { always, byName, denying } from './rules.ts';

export const releases: Handlers = byName(
  {
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
    dotnet: publisher(/^nuget (push|delete)\b/),
    nuget: publisher(/^(push|delete)\b/),
    vsce: publisher(/^(publish|unpublish)\b/),
    nx: publisher(/^release publish\b/),
    pod: publisher(/^trunk push\b/),
    helm: publisher(/^push\b/),
  },
  denying('cloud', 'removes a deployment', {
    helm: /^(-n \S+ |--[\w-]+[= ]\S+ )*(uninstall|delete|rollback)\b/,
  }),
  denying(
    'supply-chain',
    'publishes a release',
    {
      np: always,
      'semantic-release': /^(?!.*--dry-run\b)/,
      'release-it': /^(?!.*--(dry-run|release-version|changelog)\b)/,
    },
    release,
  ),
);
