import { Gauge, type Registry } from 'prom-client';
import type { BuildInfo } from '../status/status.ts';

/** The release that runs, under the name and labels of the original. */
export function registerBuildInfo(registry: Registry, build: BuildInfo): void {
  const { version, commit: revision, date: build_date } = build;
  new Gauge({
    name: 'ligato_build_info',
    help: '1, with the version of the agent, the commit and the date of its build.',
    labelNames: ['version', 'revision', 'build_date', 'built_by'],
    registers: [registry],
  }).set({ version, revision, build_date, built_by: '' }, 1);
}
