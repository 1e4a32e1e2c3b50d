import '@scrip-wallet/react/styles.css';
import './style.css';
import type { ReactNode } from 'react';

export const metadata = { title: 'Atelier' };

export default function Layout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  );
}
