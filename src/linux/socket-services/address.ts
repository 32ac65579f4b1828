/** Transport protocols whose sockets the kernel can translate: those of SCTP have no hook. */
export type SocketProtocol = 'TCP' | 'UDP';
