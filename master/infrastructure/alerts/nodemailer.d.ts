/** What is used of nodemailer: it is loaded with the first mail, and whoever builds the master need not have it. */
declare module 'nodemailer' {
  export interface Transporter {
    sendMail(mail: {
      readonly from: string;
      readonly to: string[];
      readonly subject: string;
      readonly text: string;
      readonly messageId: string;
      readonly headers: Readonly<Record<string, string>>;
      /** Ends it, and its connection. */
      readonly signal: AbortSignal;
    }): Promise<unknown>;
    close(): void;
  }
  export function createTransport(url: string): Transporter;
}
