/* OpenSSL behind memory buffers.  The only file that knows OpenSSL's session calls. */
#include "net/tls.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "base/alloc.h"

struct tls_context {
    SSL_CTX *ctx;
    bool insecure;
    pthread_mutex_t lock;
    SSL_SESSION *latest; /* under lock: resumed by the next connection */
};

struct tls_session {
    SSL *ssl;
    BIO *in;
    BIO *out;
    char problem[512];
};

static const char *openssl_reason(char *text, size_t cap)
{
    unsigned long code = ERR_peek_last_error();
    const char *reason = code != 0 ? ERR_reason_error_string(code) : NULL;
    if (reason == NULL)
        return "unknown TLS error";
    snprintf(text, cap, "%s", reason);
    return text;
}

/* ---- context --------------------------------------------------------------------------------------------------- */

/* OpenSSL hands over every new session; 1 means that we keep its reference. */
static int keep_session(SSL *ssl, SSL_SESSION *session)
{
    struct tls_context *context = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    pthread_mutex_lock(&context->lock);
    SSL_SESSION *old = context->latest;
    context->latest = session;
    pthread_mutex_unlock(&context->lock);
    SSL_SESSION_free(old);
    return 1;
}

static bool load_trust(SSL_CTX *ctx, const char *ca_file, struct error *err)
{
    char reason[256];
    if (ca_file == NULL) {
        if (SSL_CTX_set_default_verify_paths(ctx) == 1)
            return true;
        return error_set(err, E_IO, "cannot load the system's trusted certificates: %s",
                         openssl_reason(reason, sizeof(reason)));
    }
    struct stat st;
    bool folder = stat(ca_file, &st) == 0 && S_ISDIR(st.st_mode);
    if (SSL_CTX_load_verify_locations(ctx, folder ? NULL : ca_file, folder ? ca_file : NULL) == 1)
        return true;
    return error_set(err, E_IO, "--cacert: cannot load certificates from '%s': %s", ca_file,
                     openssl_reason(reason, sizeof(reason)));
}

static bool load_client_cert(SSL_CTX *ctx, const struct tls_options *options, struct error *err)
{
    char reason[256];
    if (options->cert_file == NULL)
        return true;
    const char *key = options->key_file != NULL ? options->key_file : options->cert_file;
    if (SSL_CTX_use_certificate_chain_file(ctx, options->cert_file) != 1)
        return error_set(err, E_IO, "--cert: cannot load a certificate from '%s': %s",
                         options->cert_file, openssl_reason(reason, sizeof(reason)));
    if (SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(ctx) != 1)
        return error_set(err, E_IO, "%s: cannot load the certificate's key from '%s': %s",
                         options->key_file != NULL ? "--key" : "--cert", key,
                         openssl_reason(reason, sizeof(reason)));
    return true;
}

struct tls_context *tls_context_new(const struct tls_options *options, struct error *err)
{
    struct tls_context *context = mem_new(struct tls_context);
    pthread_mutex_init(&context->lock, NULL);
    context->insecure = options->insecure;
    context->ctx = SSL_CTX_new(TLS_client_method());
    if (context->ctx == NULL) {
        tls_context_free(context);
        error_set(err, E_IO, "cannot set up TLS");
        return NULL;
    }
    static const unsigned char http1[] = "\x08http/1.1";
    SSL_CTX_set_min_proto_version(context->ctx, TLS1_2_VERSION);
    SSL_CTX_set_mode(context->ctx, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_alpn_protos(context->ctx, http1, sizeof(http1) - 1);
    SSL_CTX_set_verify(context->ctx, options->insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_session_cache_mode(context->ctx,
                                   SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_set_app_data(context->ctx, context);
    SSL_CTX_sess_set_new_cb(context->ctx, keep_session);
    if ((!options->insecure && !load_trust(context->ctx, options->ca_file, err)) ||
        !load_client_cert(context->ctx, options, err)) {
        tls_context_free(context);
        return NULL;
    }
    return context;
}

void tls_context_free(struct tls_context *context)
{
    if (context == NULL)
        return;
    SSL_SESSION_free(context->latest);
    SSL_CTX_free(context->ctx);
    pthread_mutex_destroy(&context->lock);
    free(context);
}

/* ---- session --------------------------------------------------------------------------------------------------- */

static bool is_address(const char *host)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, host, bytes) == 1 || inet_pton(AF_INET6, host, bytes) == 1;
}

static void demand_host(struct tls_session *s, const char *host, bool insecure)
{
    if (!is_address(host)) {
        SSL_ctrl(s->ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                 (void *)(uintptr_t)host); /* the macro for this casts const away */
        if (!insecure)
            SSL_set1_host(s->ssl, host);
    } else if (!insecure) {
        X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(s->ssl), host);
    }
}

struct tls_session *tls_session_new(struct tls_context *context, const char *host)
{
    struct tls_session *s = mem_new(struct tls_session);
    s->ssl = SSL_new(context->ctx);
    s->in = BIO_new(BIO_s_mem());
    s->out = BIO_new(BIO_s_mem());
    if (s->ssl == NULL || s->in == NULL || s->out == NULL)
        abort(); /* out of memory */
    BIO_set_mem_eof_return(s->in, -1);
    SSL_set_bio(s->ssl, s->in, s->out);
    SSL_set_connect_state(s->ssl);
    demand_host(s, host, context->insecure);
    pthread_mutex_lock(&context->lock);
    if (context->latest != NULL)
        SSL_set_session(s->ssl, context->latest);
    pthread_mutex_unlock(&context->lock);
    return s;
}

void tls_session_free(struct tls_session *s)
{
    if (s == NULL)
        return;
    /* Without a shutdown OpenSSL would declare the session unfit for the next connection. */
    if (s->problem[0] == '\0')
        SSL_set_shutdown(s->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(s->ssl);
    free(s);
}

void tls_input(struct tls_session *s, struct sv cipher)
{
    if (cipher.len > 0)
        BIO_write(s->in, cipher.ptr, (int)cipher.len);
}

static void explain(struct tls_session *s)
{
    char reason[256];
    long verdict = SSL_get_verify_result(s->ssl);
    if (verdict != X509_V_OK && SSL_get_verify_mode(s->ssl) != SSL_VERIFY_NONE)
        snprintf(
            s->problem, sizeof(s->problem),
            "certificate verify failed: %s; trust it with --cacert FILE or skip the check with "
            "--insecure",
            X509_verify_cert_error_string(verdict));
    else if (ERR_GET_LIB(ERR_peek_last_error()) == ERR_LIB_SSL &&
             ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_WRONG_VERSION_NUMBER &&
             !SSL_is_init_finished(s->ssl))
        snprintf(s->problem, sizeof(s->problem), "TLS failed: " TLS_NOT_SPOKEN);
    else
        snprintf(s->problem, sizeof(s->problem), "TLS failed: %s",
                 openssl_reason(reason, sizeof(reason)));
}

static enum tls_result outcome(struct tls_session *s, int result)
{
    int why = SSL_get_error(s->ssl, result);
    if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE)
        return TLS_AGAIN;
    if (why == SSL_ERROR_ZERO_RETURN)
        return TLS_CLOSED;
    explain(s);
    return TLS_FAILED;
}

enum tls_result tls_handshake(struct tls_session *s)
{
    ERR_clear_error();
    int result = SSL_do_handshake(s->ssl);
    return result == 1 ? TLS_OK : outcome(s, result);
}

enum tls_result tls_decrypt(struct tls_session *s, char *plain, size_t cap, size_t *len)
{
    *len = 0;
    while (*len < cap) {
        size_t got;
        ERR_clear_error();
        int result = SSL_read_ex(s->ssl, plain + *len, cap - *len, &got);
        if (result == 1) {
            *len += got;
            continue;
        }
        enum tls_result why = outcome(s, 0);
        /* What was decrypted before an end or a failure is handed out first; the next call says the rest. */
        return *len > 0 ? TLS_OK : why;
    }
    return TLS_OK;
}

enum tls_result tls_encrypt(struct tls_session *s, struct sv plain)
{
    size_t done;
    if (plain.len == 0)
        return TLS_OK;
    ERR_clear_error();
    return SSL_write_ex(s->ssl, plain.ptr, plain.len, &done) == 1 ? TLS_OK : outcome(s, 0);
}

struct sv tls_output(struct tls_session *s)
{
    char *ptr;
    long len = BIO_get_mem_data(s->out, &ptr);
    return sv_make(ptr, len > 0 ? (size_t)len : 0);
}

void tls_output_sent(struct tls_session *s, size_t n)
{
    char drop[4096];
    while (n > 0) {
        int step = BIO_read(s->out, drop, n < sizeof(drop) ? (int)n : (int)sizeof(drop));
        if (step <= 0)
            return;
        n -= (size_t)step;
    }
}

const char *tls_problem(const struct tls_session *s)
{
    return s->problem;
}
