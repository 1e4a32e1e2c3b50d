/* Linked into a static binary for glibc (scripts/release), which has the lookups "files" and "dns" built in. Where
 * /etc/nsswitch.conf names any other (mdns4_minimal, resolve, myhostname: most desktops do), getaddrinfo would load the
 * machine's module with the machine's own glibc into this process, and crash unless both are of one version. */
#include <nss.h>

__attribute__((constructor)) static void built_in_lookups_only(void)
{
    __nss_configure_lookup("hosts", "files dns");
}
