interface ImportMetaEnv {
  readonly VITE_SCRIP_URL: string;
  readonly VITE_SCRIP_KEY: `pay_pk_${string}`;
}
