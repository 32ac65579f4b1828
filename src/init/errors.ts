import { defineError } from '#infra/errors/errors.ts';

export const StartupConfigError = defineError({
  name: 'StartupConfigError',
  code: 'CV_INIT_STARTUP_CONFIG',
  rejects: 'configuration',
  remedy:
    "Correct VPP's startup configuration (--vpp-config), or delete the file: contiv-init then generates one.",
});

export const InitRunningError = defineError({
  name: 'InitRunningError',
  code: 'CV_INIT_RUNNING',
  remedy:
    'End the other contiv-init of this node: it may belong to a pod that was deleted by force, or run outside of Kubernetes.',
});

export const RuntimeFolderError = defineError({
  name: 'RuntimeFolderError',
  code: 'CV_INIT_RUNTIME_FOLDER',
  isRetriable: true,
  remedy:
    "Check the folder that the error names: free space, permission, a read-only file system. It is /run/vpp, or that of the socket in VPP's startup configuration.",
});

export const VppRunningError = defineError({
  name: 'VppRunningError',
  code: 'CV_INIT_VPP_RUNNING',
  remedy:
    'Stop the other VPP of this node, for example `systemctl disable --now vpp`: two of them replace the sockets of each other.',
});

export const VppNotReadyError = defineError({
  name: 'VppNotReadyError',
  code: 'CV_INIT_VPP_NOT_READY',
  remedy:
    'Read the output of VPP above. A VPP that waits for huge pages or for a NIC does not answer either.',
});

export const VppEndedError = defineError({
  name: 'VppEndedError',
  code: 'CV_INIT_VPP_ENDED',
  remedy:
    'Read the output of VPP above: it names a setting that it rejects, or the place of a crash. docs/contiv-init.md says how to keep a core dump.',
});
