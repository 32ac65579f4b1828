import { LinuxError } from '#linux/api.ts';

const texts: Readonly<Record<string, string>> = {
  EEXIST: 'File exists',
  ENODEV: 'Cannot find device',
  ENOENT: 'No such file or directory',
  ESRCH: 'No such process',
  EINVAL: 'Invalid argument',
  EACCES: 'Permission denied',
  EADDRNOTAVAIL: 'Cannot assign requested address',
  ENETDOWN: 'Network is down',
  ENETUNREACH: 'Network is unreachable',
  EHOSTUNREACH: 'No route to host',
  EOPNOTSUPP: 'Operation not supported',
};

export function linuxError(errno: string, where: string): LinuxError {
  return new LinuxError(`${texts[errno] ?? 'operation failed'} (${errno})`, { where, errno });
}
