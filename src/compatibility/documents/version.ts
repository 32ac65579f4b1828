/** `/info/version`, which agentctl asks for since ligato vpp-agent 3.2. */
import type { Clock } from '#infra/clock/clock.ts';
import type { Route } from '#infra/http/route.ts';
import type { BuildInfo } from '#infra/status/status.ts';
import { documentRoute } from '../document.ts';

export function versionDocument({ version, date, commit }: BuildInfo, clock: Clock): Route {
  const built = Date.parse(date);
  return documentRoute('/info/version', 'version and build of the agent', clock, async () => ({
    App: 'contiv-agent',
    Version: version,
    GitCommit: commit,
    GitBranch: '',
    BuildUser: '',
    BuildHost: '',
    // seconds since 1970; 0: unknown
    BuildTime: Number.isNaN(built) ? 0 : Math.floor(built / 1000),
    GoVersion: `Node.js ${process.version}`,
    OS: process.platform,
    Arch: process.arch,
  }));
}
