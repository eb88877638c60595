/** What is used of smtp-server: whoever builds the tests need not have it. */
declare module 'smtp-server' {
  import type { Server } from 'node:net';
  import type { Readable } from 'node:stream';

  interface Address {
    readonly address: string;
  }
  interface Session {
    readonly envelope: { readonly mailFrom: Address; readonly rcptTo: readonly Address[] };
  }
  export class SMTPServer {
    constructor(options: {
      readonly authOptional: boolean;
      readonly disabledCommands: readonly string[];
      readonly onRcptTo: (
        address: Address,
        session: Session,
        done: (error?: Error) => void,
      ) => void;
      readonly onData: (stream: Readable, session: Session, done: (error?: Error) => void) => void;
    });
    readonly server: Server;
    listen(port: number, host: string): Server;
    close(done: () => void): void;
  }
}
