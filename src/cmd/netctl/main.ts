#!/usr/bin/env -S node --max-semi-space-size=8
/** contiv-netctl, the command line tool of the cluster; wiring only, see src/netctl. */
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

enableCompileCache(join(import.meta.dirname, '../../../.cache/compiled'));
const { runNetctl } = await import('./run-netctl.ts');
process.exitCode = await runNetctl(process.argv.slice(2), process.env);
