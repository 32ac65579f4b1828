import { test } from 'node:test';
import { linuxHostSuite } from './linux-host-suite.ts';
import { kernelBackend, kernelMissing } from './linux-kernel.ts';

const missing = await kernelMissing();
if (missing === undefined) linuxHostSuite('the kernel of this machine', kernelBackend);
else test('LinuxHost: the kernel of this machine', { skip: missing }, () => undefined);
