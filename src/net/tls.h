/* tls.h - TLS over OpenSSL with memory buffers, so that the socket is read by us and keeps its kernel receive stamps.
 * Use: tls_context_new once a run; tls_session_new per connection; tls_handshake with what came from the socket until it
 * is done; then tls_decrypt and tls_encrypt.  tls_output is what must go to the socket; tls_output_sent takes it off.
 * Certificates are checked against the system's trust store or --cacert, names against the host; TLS 1.2 and later.
 * Sessions are resumed across the connections of a context.
 * Threads: a context may be shared; a session belongs to one thread.  Errors: struct error for contexts; sessions give a
 * sentence through tls_problem. */
#ifndef VB_NET_TLS_H
#define VB_NET_TLS_H

#include "base/error.h"
#include "base/sv.h"

struct tls_options {
    bool insecure;         /* do not check the server's certificate */
    const char *ca_file;   /* PEM file or folder; NULL: the system's trust store */
    const char *cert_file; /* client certificate chain in PEM, NULL none */
    const char *key_file;  /* its key; NULL: in cert_file */
};

struct tls_context;
struct tls_session;

struct tls_context *tls_context_new(const struct tls_options *options, struct error *err);
void tls_context_free(struct tls_context *context);

/* `host`: name (sent as SNI) or address literal that the certificate must be for. */
struct tls_session *tls_session_new(struct tls_context *context, const char *host);
void tls_session_free(struct tls_session *session);

enum tls_result { TLS_OK, TLS_AGAIN, TLS_CLOSED, TLS_FAILED };

/* Bytes from the socket; copied. */
void tls_input(struct tls_session *session, struct sv cipher);
/* TLS_OK: the connection is set up; TLS_AGAIN: more input is needed (send the output first). */
enum tls_result tls_handshake(struct tls_session *session);
/* Decrypts what has come into `plain`: *len bytes of it.  TLS_OK when there are some; TLS_CLOSED at the peer's end. */
enum tls_result tls_decrypt(struct tls_session *session, char *plain, size_t cap, size_t *len);
enum tls_result tls_encrypt(struct tls_session *session, struct sv plain);

/* Bytes for the socket, and that `n` of them were sent. */
struct sv tls_output(struct tls_session *session);
void tls_output_sent(struct tls_session *session, size_t n);

/* Part of tls_problem when what came is no TLS at all: trying again is of no use. */
#define TLS_NOT_SPOKEN "the server answers http, not TLS; write http:// in --base-url"

/* Why the latest call failed: one sentence; valid until the next call. */
const char *tls_problem(const struct tls_session *session);

#endif
